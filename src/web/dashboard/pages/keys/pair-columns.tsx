import type { ApiKeyPair } from '../../api/api-types.ts';
import { formatDate, formatDateTime } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import type { Column } from '../../ui/table.tsx';
import { type KeyKind, type KeysDialog, keyHint, keyKinds, kindNames, nameOf } from './key-pair.ts';
import { scopeNames } from './key-scopes.tsx';

export function pairColumns(
  kinds: readonly KeyKind[],
  open: (dialog: KeysDialog) => void,
): readonly Column<ApiKeyPair>[] {
  return [
    {
      head: 'Name',
      cell: ({ name, scopes }) => (
        <>
          {name ?? <span class="quiet">Unnamed</span>} <Badge>{scopeNames(scopes)}</Badge>
        </>
      ),
    },
    ...keyKinds.map(kind => ({
      head: `${kindNames[kind]} key`,
      cell: (pair: ApiKeyPair) =>
        kinds.includes(kind) ? <KeyCell pair={pair} kind={kind} open={open} /> : <Locked />,
    })),
    {
      head: 'Created',
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} title={formatDateTime(createdAt)}>
          {formatDate(createdAt)}
        </time>
      ),
    },
    {
      head: 'Actions',
      isActions: true,
      cell: pair => (
        <Menu
          label={`Actions for ${nameOf(pair)}`}
          items={[
            { label: 'Edit', icon: 'edit', onClick: () => open({ kind: 'edit', pair }) },
            {
              label: 'Delete key pair',
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
  const name = kindNames[kind].toLowerCase();
  if (key === undefined) {
    return (
      <Button
        small
        icon="plus"
        label={`Create a ${name} key for ${nameOf(pair)}`}
        onClick={() => open({ kind: 'regenerate', pair, key: kind })}
      >
        Create key
      </Button>
    );
  }
  return (
    <div class="key-cell">
      <div>
        <code title="The end of the key">{keyHint(key) ?? '…'}</code>
        <p class="hint">
          {key.lastUsedAt === undefined ? (
            'Never used'
          ) : (
            <>
              Last used <RelativeTime time={key.lastUsedAt} />
            </>
          )}
        </p>
      </div>
      <Menu
        label={`Actions for the ${name} key ${keyHint(key) ?? ''} of ${nameOf(pair)}`}
        items={[
          {
            label: 'Regenerate',
            icon: 'refresh',
            onClick: () => open({ kind: 'regenerate', pair, key: kind }),
          },
          {
            label: 'Delete key',
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
      Upgrade required
    </a>
  );
}
