import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/account.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useSignInMethods } from '../../ui/hooks/use-sign-in-methods.ts';
import { Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';

/** Shown where the server has an OpenID Connect provider. */
export function IdentityCard() {
  const methods = useSignInMethods();
  const name = methods.value?.oidc?.name;
  return name === undefined ? null : <LinkedIdentity name={name} />;
}

function LinkedIdentity({ name }: { name: string }) {
  const loaded = useLoad('identity', signal => call('GET /account/identity', { signal }));
  const [isUnlinking, setUnlinking] = useState(false);
  return (
    <Section isSplit title={t('identity.title', { provider: name })}>
      <LoadedContent loaded={loaded} height={60}>
        {({ linked, linkedAt = '' }) =>
          linked ? (
            <>
              <p>{t('identity.linked', { date: formatDateTime(linkedAt) })}</p>
              <div class="actions">
                <Button onClick={() => setUnlinking(true)}>{t('identity.unlink')}</Button>
              </div>
            </>
          ) : (
            <p>{t('identity.notLinked', { provider: name })}</p>
          )
        }
      </LoadedContent>
      {isUnlinking && (
        <ConfirmDialog
          title={t('identity.unlinkTitle', { provider: name })}
          action={t('identity.unlink')}
          work={async () => {
            await call('DELETE /account/identity');
            loaded.reload();
            showToast(t('identity.unlinked', { provider: name }));
          }}
          onClose={() => setUnlinking(false)}
        >
          <p>{t('identity.unlinkText', { provider: name })}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
