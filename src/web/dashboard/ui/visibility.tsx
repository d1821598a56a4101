import { t } from '../texts/shell.ts';
import { Icon } from './icon.tsx';

export function Visibility({
  isPublic,
  isListed = false,
}: {
  isPublic: boolean;
  isListed?: boolean | undefined;
}) {
  return (
    <span class="visibility">
      <Icon name={isPublic ? 'eye' : 'lock'} size={16} />
      {t(isPublic ? (isListed ? 'visibility.inChannel' : 'visibility.public') : 'visibility.private')}
    </span>
  );
}
