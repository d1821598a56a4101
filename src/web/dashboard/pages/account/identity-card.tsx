import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
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
    <Section isSplit title={`Sign-in with ${name}`}>
      <LoadedContent loaded={loaded} height={60}>
        {({ linked, linkedAt = '' }) =>
          linked ? (
            <>
              <p>Linked since {formatDateTime(linkedAt)}. No password or code is needed.</p>
              <div class="actions">
                <Button onClick={() => setUnlinking(true)}>Unlink</Button>
              </div>
            </>
          ) : (
            <p>To link it, sign out and choose “Continue with {name}” on the sign-in page.</p>
          )
        }
      </LoadedContent>
      {isUnlinking && (
        <ConfirmDialog
          title={`Unlink ${name}?`}
          action="Unlink"
          work={async () => {
            await call('DELETE /account/identity');
            loaded.reload();
            showToast(`${name} is unlinked.`);
          }}
          onClose={() => setUnlinking(false)}
        >
          <p>The next sign-in with {name} links it again, if the email address there is yours.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
