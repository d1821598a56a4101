import { saveFile } from '../../../../shared/save-file.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeSample } from '../../../ui/code-sample.tsx';
import { ResultDialog } from '../../../ui/dialog/dialog.tsx';
import { Notice } from '../../../ui/notice.tsx';

export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n');
  return (
    <ResultDialog title="Your recovery codes" onClose={onClose}>
      <Notice tone="warning" title="Save these codes now.">
        They are shown only once. Each signs you in once, if you lose your device.
      </Notice>
      <CodeSample label="Recovery codes" text={text} />
      <div class="actions">
        <Button
          icon="download"
          onClick={() =>
            saveFile(`data:text/plain,${encodeURIComponent(`${text}\n`)}`, 'millrace-recovery-codes.txt')
          }
        >
          Download the codes
        </Button>
      </div>
    </ResultDialog>
  );
}
