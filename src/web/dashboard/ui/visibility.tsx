import { Icon } from './icon.tsx';

export function Visibility({ isPublic }: { isPublic: boolean }) {
  return (
    <span class="visibility">
      <Icon name={isPublic ? 'eye' : 'lock'} size={16} />
      {isPublic ? 'Public' : 'Private'}
    </span>
  );
}
