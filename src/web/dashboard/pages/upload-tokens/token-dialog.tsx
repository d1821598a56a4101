import type { UploadToken } from '../../api/api-types.ts';
import { formatDateTime } from '../../format/time.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { curlSample, pageSample } from './token-samples.ts';

export function TokenDialog({
  token: { token, expiresAt },
  isNew,
  onClose,
}: {
  token: UploadToken;
  isNew: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog title={isNew ? 'Upload token created' : 'Upload with this token'} wide onClose={onClose}>
      <div class="dialog-body">
        <CopyField
          label="Token"
          value={token}
          secret={!isNew}
          hint={
            expiresAt === undefined
              ? 'Valid until you delete it.'
              : `Valid until ${formatDateTime(expiresAt)}.`
          }
        />
        <Notice>
          Anyone with this token can upload videos to this environment, and nothing else. You can use it in a
          web page or an app.
        </Notice>
        <CodeSample label="From a terminal" text={curlSample(location.origin, token)} />
        <CodeSample label="From a web page" text={pageSample(location.origin, token)} />
      </div>
      <footer>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
