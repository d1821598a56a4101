import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { formatDateTime } from '../../../format/time.ts';
import { t } from '../../../texts/account.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/page.tsx';
import { LoadedContent } from '../../../ui/states.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { ProofDialog } from './proof-dialog.tsx';
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx';
import { SetupDialog } from './setup-dialog.tsx';

const fewCodes = 3;

export function TwoFactorCard() {
  const loaded = useLoad('two-factor', signal => call('GET /account/two-factor', { signal }));
  const [open, setOpen] = useState<'setup' | 'renew' | 'disable'>();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  const close = () => setOpen(undefined);
  const onCodes = (codes: readonly string[]) => {
    close();
    setRecoveryCodes(codes);
    loaded.reload();
  };
  return (
    <Section isSplit title={t('twoFactor.title')} id="two-factor" lead={t('twoFactor.lead')}>
      <LoadedContent loaded={loaded} height={110}>
        {({ enabled, enabledAt, recoveryCodesLeft = 0 }) =>
          enabled ? (
            <>
              <p class="name-row">
                <Badge tone="good">{t('twoFactor.on')}</Badge>
                <span>{t('twoFactor.since', { date: formatDateTime(enabledAt ?? '') })}</span>
              </p>
              {recoveryCodesLeft < fewCodes ? (
                <Notice tone="warning">{t('twoFactor.fewCodesLeft', { count: recoveryCodesLeft })}</Notice>
              ) : (
                <p>{t('twoFactor.codesLeft', { count: recoveryCodesLeft })}</p>
              )}
              <div class="actions">
                <Button onClick={() => setOpen('renew')}>{t('twoFactor.newCodes')}</Button>
                <Button onClick={() => setOpen('disable')}>{t('twoFactor.turnOff')}</Button>
              </div>
            </>
          ) : (
            <div class="actions">
              <Button onClick={() => setOpen('setup')}>{t('twoFactor.turnOn')}</Button>
            </div>
          )
        }
      </LoadedContent>
      {open === 'setup' && <SetupDialog onEnabled={onCodes} onClose={close} />}
      {open === 'renew' && (
        <ProofDialog
          title={t('twoFactor.renewTitle')}
          action={t('twoFactor.renew')}
          work={async body => {
            const made = await call('POST /account/two-factor/recovery-codes', { body });
            onCodes(made.recoveryCodes);
          }}
          onClose={close}
        >
          {t('twoFactor.renewText')}
        </ProofDialog>
      )}
      {open === 'disable' && (
        <ProofDialog
          title={t('twoFactor.turnOffTitle')}
          action={t('twoFactor.turnOff')}
          danger
          work={async body => {
            await call('DELETE /account/two-factor', { body });
            close();
            loaded.reload();
            showToast(t('twoFactor.turnedOff'));
          }}
          onClose={close}
        >
          {t('twoFactor.turnOffText')}
        </ProofDialog>
      )}
      {recoveryCodes !== undefined && (
        <RecoveryCodesDialog codes={recoveryCodes} onClose={() => setRecoveryCodes(undefined)} />
      )}
    </Section>
  );
}
