import type { AuditEntry } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { nameOfEnvironment } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page, Section } from '../../ui/page.tsx';
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
  const page = Math.max(1, Number(query.page) || 1);
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
    <Page
      title="Activity"
      lead="Changes and sign-ins of your account, in all projects and both environments."
    >
      <Section
        title="Audit log"
        actions={
          <>
            <SelectField
              label="Filter by action"
              hideLabel
              value={action}
              options={actionChoices(action, first)}
              onValue={chosen => filter({ action: chosen })}
            />
            <SelectField
              label="Filter by time"
              hideLabel
              value={period}
              options={periodChoices}
              onValue={chosen => filter({ period: chosen })}
            />
          </>
        }
      >
        {(actor !== undefined || target !== undefined) && (
          <div class="activity-filters">
            {actor !== undefined && (
              <Button small icon="close" onClick={() => filter({ actor: undefined })}>
                By {first === undefined ? actor : actorLabel(first.actor)}
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
                  caption="Audit log"
                  rows={data}
                  keyOf={({ number }) => String(number)}
                  columns={columnsOf(filter)}
                />
                <Pagination
                  pagination={pagination}
                  what="entries"
                  onPage={next => {
                    change({ page: next === 1 ? undefined : String(next) });
                    scrollTo({ top: 0 });
                  }}
                />
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
      title="No results"
      action={<Button onClick={onClear}>Show everything</Button>}
    />
  ) : (
    <EmptyState icon="clock" title="No activity yet">
      Changes that you, your team and your apps make appear here.
    </EmptyState>
  );
}

function columnsOf(filter: (changes: Changes) => void): readonly Column<AuditEntry>[] {
  return [
    {
      head: 'Time',
      cell: ({ createdAt }) => (
        <span class="activity-time">
          <RelativeTime time={createdAt} />
          <span class="quiet">{formatDateTime(createdAt)}</span>
        </span>
      ),
    },
    {
      head: 'Action',
      cell: ({ summary, action, changed = [] }) => (
        <span class="activity-action">
          <span title={action}>{summary}</span>
          {changed.length > 0 && <span class="quiet">{changedText(changed)}</span>}
        </span>
      ),
    },
    {
      head: 'Target',
      cell: entry => <ActivityTarget entry={entry} onFilter={id => filter({ target: id })} />,
    },
    {
      head: 'By',
      cell: ({ actor }) =>
        actor.id === undefined ? (
          actorLabel(actor)
        ) : (
          <button
            type="button"
            class="text-button"
            title="Show everything by this actor"
            onClick={() => filter({ actor: actor.id })}
          >
            {actorLabel(actor)}
          </button>
        ),
    },
    {
      head: 'Environment',
      cell: ({ environment, projectId }) =>
        environment === undefined ? (
          <span class="quiet">Account</span>
        ) : (
          <Badge tone={environment === 'sandbox' ? 'warning' : 'neutral'}>
            {nameOfEnvironment(environment, projectId)}
          </Badge>
        ),
    },
    {
      head: 'Address',
      cell: ({ address }) => (address === undefined ? '' : <span class="mono">{address}</span>),
    },
  ];
}
