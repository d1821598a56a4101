import type { ComponentChildren } from 'preact';
import { formatList } from '../../../format/list.ts';
import { can, type Scope } from '../../../state/session.ts';
import { t } from '../../../texts/shell.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Menu, type MenuItem } from '../../../ui/menu.tsx';

interface AudioTrackActions {
  readonly name: string;
  /** Roles without it see no actions. */
  readonly scope: Scope;
  readonly details: readonly (string | undefined)[];
  readonly isDefault: boolean;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onEdit: () => void;
  readonly onDefault: () => void;
  /** @param by -1 up, 1 down */
  readonly onMove: (by: -1 | 1) => void;
  readonly moreItems?: readonly MenuItem[];
  readonly children?: ComponentChildren;
}

export function AudioTrackRow({
  name,
  scope,
  details,
  isDefault,
  isFirst,
  isLast,
  onEdit,
  onDefault,
  onMove,
  moreItems = [],
  children,
}: AudioTrackActions) {
  const items: MenuItem[] = [{ label: t('audioTrack.edit'), icon: 'edit', onClick: onEdit }];
  if (!isDefault) items.push({ label: t('audioTrack.play'), icon: 'check', onClick: onDefault });
  if (!isFirst) items.push({ label: t('audioTrack.up'), icon: 'up', onClick: () => onMove(-1) });
  if (!isLast) items.push({ label: t('audioTrack.down'), icon: 'down', onClick: () => onMove(1) });
  const text = formatList(details.filter((one): one is string => one !== undefined && one !== name));
  return (
    <li>
      <span class="track-name">
        {name}
        {text !== '' && <span class="quiet">{text}</span>}
        {isDefault && <Badge tone="info">{t('audioTrack.default')}</Badge>}
        {children}
      </span>
      {can(scope) && <Menu label={t('audioTrack.actions', { name })} items={[...items, ...moreItems]} />}
    </li>
  );
}
