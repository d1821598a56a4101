import { saveFile } from '../../../../shared/save-file.ts';
import { t } from '../../../texts/account.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeSample } from '../../../ui/code-sample.tsx';
import { ResultDialog } from '../../../ui/dialog/dialog.tsx';
import { Notice } from '../../../ui/notice.tsx';

export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n');
  return (
    <ResultDialog title={t('twoFactor.codesTitle')} onClose={onClose}>
      <Notice tone="warning" title={t('twoFactor.saveCodes')}>
        {t('twoFactor.saveCodesText')}
      </Notice>
      <CodeSample label={t('twoFactor.codes')} text={text} />
      <div class="actions">
        <Button
          icon="download"
          onClick={() =>
            saveFile(`data:text/plain,${encodeURIComponent(`${text}\n`)}`, 'millrace-recovery-codes.txt')
          }
        >
          {t('twoFactor.download')}
        </Button>
      </div>
    </ResultDialog>
  );
}
