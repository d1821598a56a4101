import { t } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { useSubmit } from './form/use-submit.ts';
import { showError, showToast } from './toast.tsx';

/** Asks for the next private links, and says so: fields cut the token, so their texts look the same. */
export function NewLinksButton({ renew }: { renew: () => Promise<void> }) {
  const { busy, submit } = useSubmit(() => renew().then(() => showToast(t('links.renewed')), showError));
  return (
    <Button small icon="refresh" busy={busy} onClick={() => submit()}>
      {t('links.renew')}
    </Button>
  );
}
