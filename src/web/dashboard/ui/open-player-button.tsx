import { localUrl } from '../format/local-url.ts';
import { t } from '../texts/shell.ts';
import { Button } from './button.tsx';

export function OpenPlayerButton({ url }: { url: string }) {
  return (
    <Button small icon="external" href={localUrl(url)} target="_blank">
      {t('player.open')}
    </Button>
  );
}
