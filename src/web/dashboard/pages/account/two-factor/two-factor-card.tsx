import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { formatDateTime } from '../../../format/time.ts';
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
    <Section
      isSplit
      title="Two-factor sign-in"
      id="two-factor"
      lead="Protects your account with codes from an authenticator app, in addition to your password."
    >
      <LoadedContent loaded={loaded} height={110}>
        {({ enabled, enabledAt, recoveryCodesLeft = 0 }) =>
          enabled ? (
            <>
              <p class="name-row">
                <Badge tone="good">On</Badge>
                <span>since {formatDateTime(enabledAt ?? '')}</span>
              </p>
              {recoveryCodesLeft < fewCodes ? (
                <Notice tone="warning">
                  {recoveryCodesLeft === 1 ? '1 recovery code is' : `${recoveryCodesLeft} recovery codes are`}{' '}
                  left. Create new ones.
                </Notice>
              ) : (
                <p>{recoveryCodesLeft} recovery codes are left.</p>
              )}
              <div class="actions">
                <Button onClick={() => setOpen('renew')}>New recovery codes</Button>
                <Button onClick={() => setOpen('disable')}>Turn off</Button>
              </div>
            </>
          ) : (
            <div class="actions">
              <Button onClick={() => setOpen('setup')}>Turn on</Button>
            </div>
          )
        }
      </LoadedContent>
      {open === 'setup' && <SetupDialog onEnabled={onCodes} onClose={close} />}
      {open === 'renew' && (
        <ProofDialog
          title="Create new recovery codes?"
          action="Create codes"
          work={async body => {
            const made = await call('POST /account/two-factor/recovery-codes', { body });
            onCodes(made.recoveryCodes);
          }}
          onClose={close}
        >
          Your other recovery codes stop working.
        </ProofDialog>
      )}
      {open === 'disable' && (
        <ProofDialog
          title="Turn off two-factor sign-in?"
          action="Turn off"
          danger
          work={async body => {
            await call('DELETE /account/two-factor', { body });
            close();
            loaded.reload();
            showToast('Two-factor sign-in is off. You’re signed out everywhere else.');
          }}
          onClose={close}
        >
          After that, you sign in with just your password.
        </ProofDialog>
      )}
      {recoveryCodes !== undefined && (
        <RecoveryCodesDialog codes={recoveryCodes} onClose={() => setRecoveryCodes(undefined)} />
      )}
    </Section>
  );
}
