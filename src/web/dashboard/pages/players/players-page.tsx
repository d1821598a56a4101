import { useState } from 'preact/hooks';
import type { Player } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { themeName } from '../../format/theme-name.ts';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Menu } from '../../ui/menu.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { pageOf } from '../../ui/page-of.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { DeleteThemeDialog } from './delete-theme-dialog.tsx';
import { type ColorName, colorGroups } from './theme-draft.ts';

const orders = [
  ['created', 'Newest first'],
  ['updated', 'Recently updated'],
  ['name', 'Name, A to Z'],
] as const;
const sorts = {
  created: { sortBy: 'createdAt', sortOrder: 'desc' },
  updated: { sortBy: 'updatedAt', sortOrder: 'desc' },
  name: { sortBy: 'name', sortOrder: 'asc' },
} as const;

export function PlayersPage() {
  const { route } = useLocation();
  const { query, change } = useQuery();
  const [isMaking, setMaking] = useNewDialog();
  const [deleted, setDeleted] = useState<Player>();
  const sort = query.sort === 'name' || query.sort === 'updated' ? query.sort : 'created';
  const currentPage = pageOf(query);
  const themes = useLoad(`${sort} ${currentPage}`, signal =>
    call('GET /players', { query: { ...sorts[sort], currentPage, pageSize: 25 }, signal }),
  );
  const canEdit = can('upload');
  const create = canEdit && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New theme
    </Button>
  );
  return (
    <Page
      title="Players"
      lead="Themes change how the player looks and behaves. Choose a theme on the page of a video or live stream."
      actions={create}
    >
      <Section>
        <LoadedContent loaded={themes} height={320}>
          {({ data, pagination }) =>
            pagination.itemsTotal === 0 ? (
              <EmptyState icon="player" title="No themes yet" action={create}>
                Give the player your colors and your logo, and decide what viewers can do.
              </EmptyState>
            ) : (
              <>
                <div class="list-head">
                  <SelectField
                    label="Order"
                    hideLabel
                    value={sort}
                    onValue={value =>
                      change({ sort: value === 'created' ? undefined : value, page: undefined })
                    }
                    options={orders}
                  />
                </div>
                <Table
                  caption="Player themes"
                  rows={data}
                  keyOf={({ playerId }) => playerId}
                  columns={[
                    {
                      head: 'Name',
                      cell: player =>
                        canEdit ? (
                          <a class="row-name" href={`/dashboard/players/${player.playerId}`}>
                            {themeName(player)}
                          </a>
                        ) : (
                          themeName(player)
                        ),
                    },
                    { head: 'Colors', cell: player => <Swatches player={player} /> },
                    { head: 'Logo', cell: ({ assets }) => (assets.logo === null ? 'None' : 'Yes') },
                    {
                      head: 'Updated',
                      cell: ({ updatedAt }) => <RelativeTime time={updatedAt} />,
                    },
                    {
                      head: 'Actions',
                      isActions: true,
                      cell: player =>
                        canEdit && (
                          <Menu
                            label={`Actions for ${themeName(player)}`}
                            items={[
                              {
                                label: 'Edit',
                                icon: 'edit',
                                onClick: () => route(`/dashboard/players/${player.playerId}`),
                              },
                              {
                                label: 'Delete',
                                icon: 'trash',
                                danger: true,
                                onClick: () => setDeleted(player),
                              },
                            ]}
                          />
                        ),
                    },
                  ]}
                />
                <Pagination
                  pagination={pagination}
                  what="themes"
                  onPage={page => change({ page: page === 1 ? undefined : String(page) })}
                />
              </>
            )
          }
        </LoadedContent>
      </Section>
      {isMaking && <NewThemeDialog onClose={() => setMaking(false)} />}
      {deleted !== undefined && (
        <DeleteThemeDialog player={deleted} onDeleted={themes.reload} onClose={() => setDeleted(undefined)} />
      )}
    </Page>
  );
}

const shown: readonly ColorName[] = ['trackPlayed', 'link', 'text', 'backgroundBottom', 'backgroundTop'];
const labels = new Map(
  colorGroups.flatMap(({ colors }) => colors).map(({ name, label }) => [name, label] as const),
);

function Swatches({ player }: { player: Player }) {
  const description = shown.map(name => `${labels.get(name)}: ${player[name]}`).join(', ');
  return (
    <span class="swatches" role="img" aria-label={description} title={description}>
      {shown.map(name => (
        <span key={name} class="swatch">
          <span style={{ background: player[name] }} />
        </span>
      ))}
    </span>
  );
}

function NewThemeDialog({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState('');
  const submission = useSubmit(async () => {
    const made = await call('POST /players', { body: { name: name.trim() } });
    route(`/dashboard/players/${made.playerId}`);
  });
  return (
    <FormDialog
      title="New player theme"
      action="Create theme"
      disabled={name.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Only you see it. You can set colors, behavior and a logo next."
        value={name}
        onValue={setName}
        field="name"
        maxLength={100}
        required
      />
    </FormDialog>
  );
}
