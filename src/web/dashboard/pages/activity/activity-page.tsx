import type { AuditEntry } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { nameOfEnvironment } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page, Section } from '../../ui/page.tsx';
import { pageOf } from '../../ui/page-of.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { actionChoices, actorLabel, periodChoices, startOf, targetLabel } from './activity-labels.ts';
import { ActivityTarget } from './activity-target.tsx';
import { changedText } from './changed-text.ts';

const pageSize = 25;

type Changes = Readonly<Record<string, string | undefined>>;

export function ActivityPage() {
  const { query, change } = useQuery();
  const { action = '', period = '', actor, target } = query;
  const page = pageOf(query);
  const filter = (changes: Changes) => change({ ...changes, page: undefined });
  const loaded = useLoad(JSON.stringify([action, period, actor, target, page]), signal =>
    call('GET /account/audit-log', {
      query: {
        ...(action === '' ? {} : { action }),
        actor,
        targetId: target,
        from: startOf(period),
        currentPage: page,
        pageSize,
      },
      signal,
    }),
  );
  const isFiltered = [action, period, actor ?? '', target ?? ''].some(one => one !== '') || page > 1;
  const first = loaded.value?.data[0];
  const clear = () => filter({ action: undefined, period: undefined, actor: undefined, target: undefined });
  return (
    <Page title={t('activity.title')} lead={t('activity.lead')}>
      <Section
        title={t('activity.log')}
        actions={
          <>
            <SelectField
              label={t('activity.filterAction')}
              hideLabel
              value={action}
              options={actionChoices(action, first)}
              onValue={chosen => filter({ action: chosen })}
            />
            <SelectField
              label={t('activity.filterTime')}
              hideLabel
              value={period}
              options={periodChoices()}
              onValue={chosen => filter({ period: chosen })}
            />
          </>
        }
      >
        {(actor !== undefined || target !== undefined) && (
          <div class="activity-filters">
            {actor !== undefined && (
              <Button small icon="close" onClick={() => filter({ actor: undefined })}>
                {t('activity.byActor', { name: first === undefined ? actor : actorLabel(first.actor) })}
              </Button>
            )}
            {target !== undefined && (
              <Button small icon="close" onClick={() => filter({ target: undefined })}>
                {first?.target === undefined ? target : targetLabel(first.target)}
              </Button>
            )}
          </div>
        )}
        <LoadedContent loaded={loaded} height={400}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <NoActivity isFiltered={isFiltered} onClear={clear} />
            ) : (
              <>
                <Table
                  look="activity-table"
                  caption={t('activity.log')}
                  rows={data}
                  keyOf={({ number }) => String(number)}
                  columns={columnsOf(filter)}
                />
                <Pagination pagination={pagination} what="entries" scrollsUp />
              </>
            )
          }
        </LoadedContent>
      </Section>
    </Page>
  );
}

function NoActivity({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return isFiltered ? (
    <EmptyState
      icon="search"
      title={t('activity.noResults')}
      action={<Button onClick={onClear}>{t('activity.showAll')}</Button>}
    />
  ) : (
    <EmptyState icon="clock" title={t('activity.none')}>
      {t('activity.noneText')}
    </EmptyState>
  );
}

function columnsOf(filter: (changes: Changes) => void): readonly Column<AuditEntry>[] {
  return [
    {
      head: t('activity.time'),
      look: 'cell-time',
      cell: ({ createdAt }) => (
        <span class="activity-time">
          <RelativeTime time={createdAt} />
          <span class="activity-date quiet">{formatDateTime(createdAt)}</span>
        </span>
      ),
    },
    {
      head: t('activity.actionHead'),
      look: 'cell-action',
      cell: ({ summary, action, changed = [] }) => (
        <span class="activity-action">
          <span title={action} lang="en">
            {summary}
          </span>
          {changed.length > 0 && <span class="quiet">{changedText(changed)}</span>}
        </span>
      ),
    },
    {
      head: t('activity.target'),
      cell: entry => <ActivityTarget entry={entry} onFilter={id => filter({ target: id })} />,
    },
    {
      head: t('activity.by'),
      cell: ({ actor }) =>
        actor.id === undefined ? (
          actorLabel(actor)
        ) : (
          <button
            type="button"
            class="text-button"
            title={t('activity.showOfActor')}
            onClick={() => filter({ actor: actor.id })}
          >
            {actorLabel(actor)}
          </button>
        ),
    },
    {
      head: t('activity.environment'),
      cell: ({ environment, projectId }) =>
        environment === undefined ? (
          <span class="quiet">{t('activity.account')}</span>
        ) : (
          <Badge tone={environment === 'sandbox' ? 'warning' : 'neutral'}>
            {nameOfEnvironment(environment, projectId)}
          </Badge>
        ),
    },
    {
      head: t('activity.address'),
      cell: ({ address }) => (address === undefined ? '' : <span class="mono">{address}</span>),
    },
  ];
}
