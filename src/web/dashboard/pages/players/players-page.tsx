import { useState } from 'preact/hooks';
import type { Player } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { themeName } from '../../format/theme-name.ts';
import { can } from '../../state/session.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/players.ts';
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
import type { ColorName } from './theme-draft.ts';

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
      {t('players.new')}
    </Button>
  );
  return (
    <Page title={t('players.title')} lead={t('players.lead')} actions={create}>
      <Section>
        <LoadedContent loaded={themes} height={320}>
          {({ data, pagination }) =>
            pagination.itemsTotal === 0 ? (
              <EmptyState icon="player" title={t('players.emptyTitle')} action={create}>
                {t('players.emptyText')}
              </EmptyState>
            ) : (
              <>
                <div class="list-head">
                  <SelectField
                    label={t('players.order')}
                    hideLabel
                    value={sort}
                    onValue={value =>
                      change({ sort: value === 'created' ? undefined : value, page: undefined })
                    }
                    options={[
                      ['created', t('players.newest')],
                      ['updated', t('players.recent')],
                      ['name', t('players.byName')],
                    ]}
                  />
                </div>
                <Table
                  caption={t('players.caption')}
                  rows={data}
                  keyOf={({ playerId }) => playerId}
                  columns={[
                    {
                      head: t('players.name'),
                      cell: player =>
                        canEdit ? (
                          <a class="row-name" href={`/dashboard/players/${player.playerId}`}>
                            {themeName(player)}
                          </a>
                        ) : (
                          themeName(player)
                        ),
                    },
                    { head: t('players.colors'), cell: player => <Swatches player={player} /> },
                    {
                      head: t('players.logo'),
                      cell: ({ assets }) =>
                        assets.logo === null ? t('players.noLogo') : t('players.hasLogo'),
                    },
                    {
                      head: t('players.updated'),
                      cell: ({ updatedAt }) => <RelativeTime time={updatedAt} />,
                    },
                    {
                      head: t('players.actions'),
                      isActions: true,
                      cell: player =>
                        canEdit && (
                          <Menu
                            label={t('players.actionsFor', { name: themeName(player) })}
                            items={[
                              {
                                label: t('players.edit'),
                                icon: 'edit',
                                onClick: () => route(`/dashboard/players/${player.playerId}`),
                              },
                              {
                                label: t('players.delete'),
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
                <Pagination pagination={pagination} what="themes" />
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

function Swatches({ player }: { player: Player }) {
  const colors = shown.map(name =>
    t('players.swatch', { color: t(`theme.color.${name}`), value: player[name] }),
  );
  const description = new Intl.ListFormat(locale(), { type: 'unit', style: 'short' }).format(colors);
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
      title={t('players.newTitle')}
      action={t('players.create')}
      disabled={name.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label={t('players.name')}
        hint={t('players.nameHint')}
        value={name}
        onValue={setName}
        field="name"
        maxLength={100}
        required
      />
    </FormDialog>
  );
}
