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
      {isPublic ? (isListed ? 'In channel' : 'Public') : 'Private'}
    </span>
  );
}
