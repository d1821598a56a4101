import type { ServerState } from '../../api/api-types.ts';
import { formatPercent } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/server.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';

type Node = NonNullable<ServerState['nodes']>[number];

const tones = { ready: 'good', draining: 'neutral', unresponsive: 'warning' } as const;
const allRoles = 4;

/** All servers that share the database. */
export function NodesCard({ nodes }: { nodes: readonly Node[] }) {
  const ready = nodes.filter(({ state }) => state === 'ready').length;
  return (
    <Card
      title={t('nodes.title')}
      actions={
        <Badge tone={ready === nodes.length ? 'good' : 'warning'}>
          {ready === nodes.length
            ? t('nodes.allReady', { count: ready })
            : t('nodes.someReady', { count: ready, total: nodes.length })}
        </Badge>
      }
    >
      <ul class="nodes">
        {nodes.map(node => (
          <NodeItem key={node.nodeId} node={node} />
        ))}
      </ul>
    </Card>
  );
}

function NodeItem({ node }: { node: Node }) {
  const { url, roles, version, startedAt, state, isCurrent, jobs, load } = node;

  const figures = [
    ...(load === undefined ? [] : [`CPU ${formatPercent(load.machinePercent)}`]),
    ...(load === undefined ? [] : [t('nodes.broadcasts', { count: load.broadcasts })]),
    t('nodes.jobs', { count: jobs }),
    ...(load === undefined ? [] : [t('nodes.viewers', { count: load.viewers })]),
  ];
  return (
    <li class="node">
      <div class="node-head">
        <strong title={node.nodeId}>{hostOf(url)}</strong>
        <Badge tone={tones[state]}>{t(`nodes.state.${state}`)}</Badge>
      </div>
      <FigureLine figures={figures} />
      <div class="quiet" title={t('nodes.started', { time: formatDateTime(startedAt) })}>
        <FigureLine
          figures={[
            ...(isCurrent ? [t('nodes.thisServer')] : []),
            roles.length === allRoles ? t('nodes.allRoles') : roles.join(', '),
            `Millrace ${version}`,
          ]}
        />
      </div>
    </li>
  );
}

/** Breaks between figures only. */
function FigureLine({ figures }: { figures: readonly string[] }) {
  return (
    <div class="node-figures number">
      {figures.map(figure => (
        <span key={figure}>{figure}</span>
      ))}
    </div>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
