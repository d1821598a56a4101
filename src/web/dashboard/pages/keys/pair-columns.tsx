import type { ApiKeyPair } from '../../api/api-types.ts';
import { formatDate, formatDateTime } from '../../format/time.ts';
import { rich, t } from '../../texts/developers.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { relativeTime } from '../../ui/relative-time.tsx';
import type { Column } from '../../ui/table.tsx';
import { type KeyKind, type KeysDialog, keyHint, keyKinds, nameOf } from './key-pair.ts';
import { scopeNames } from './key-scopes.tsx';

export function pairColumns(
  kinds: readonly KeyKind[],
  open: (dialog: KeysDialog) => void,
): readonly Column<ApiKeyPair>[] {
  return [
    {
      head: t('keys.name'),
      cell: ({ name, scopes }) => (
        <>
          {name ?? <span class="quiet">{t('keys.unnamed')}</span>} <Badge>{scopeNames(scopes)}</Badge>
        </>
      ),
    },
    ...keyKinds.map(kind => ({
      head: t('keys.kind', { kind }),
      cell: (pair: ApiKeyPair) =>
        kinds.includes(kind) ? <KeyCell pair={pair} kind={kind} open={open} /> : <Locked />,
    })),
    {
      head: t('keys.createdAt'),
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} title={formatDateTime(createdAt)}>
          {formatDate(createdAt)}
        </time>
      ),
    },
    {
      head: t('keys.actions'),
      isActions: true,
      cell: pair => (
        <Menu
          label={t('keys.actionsFor', { name: nameOf(pair) })}
          items={[
            { label: t('keys.edit'), icon: 'edit', onClick: () => open({ kind: 'edit', pair }) },
            {
              label: t('keys.deletePair'),
              icon: 'trash',
              danger: true,
              onClick: () => open({ kind: 'delete-pair', pair }),
            },
          ]}
        />
      ),
    },
  ];
}

function KeyCell({
  pair,
  kind,
  open,
}: {
  pair: ApiKeyPair;
  kind: KeyKind;
  open: (dialog: KeysDialog) => void;
}) {
  const key = pair[kind];
  if (key === undefined) {
    return (
      <Button
        small
        icon="plus"
        label={t('keys.createKind', { kind, name: nameOf(pair) })}
        onClick={() => open({ kind: 'regenerate', pair, key: kind })}
      >
        {t('keys.createKey')}
      </Button>
    );
  }
  return (
    <div class="key-cell">
      <div>
        <code title={t('keys.end')}>{keyHint(key) ?? '…'}</code>
        <p class="hint">
          {key.lastUsedAt === undefined
            ? t('keys.neverUsed')
            : rich('keys.lastUsed', {}, relativeTime(key.lastUsedAt))}
        </p>
      </div>
      <Menu
        label={t('keys.keyActions', { kind, hint: keyHint(key) ?? '', name: nameOf(pair) })}
        items={[
          {
            label: t('keys.regenerate'),
            icon: 'refresh',
            onClick: () => open({ kind: 'regenerate', pair, key: kind }),
          },
          {
            label: t('keys.deleteKey'),
            icon: 'trash',
            danger: true,
            onClick: () => open({ kind: 'delete-key', pair, key: kind }),
          },
        ]}
      />
    </div>
  );
}

function Locked() {
  return (
    <a class="locked-key" href="/dashboard/settings?part=organisation#upgrade">
      <Icon name="lock" size={14} />
      {t('keys.upgrade')}
    </a>
  );
}
