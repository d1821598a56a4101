import type { ServerState } from '../../api/api-types.ts';
import { formatNumber, formatPercent } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';

type Node = NonNullable<ServerState['nodes']>[number];

const states = {
  ready: ['good', 'Ready'],
  draining: ['neutral', 'Draining'],
  unresponsive: ['warning', 'Not responding'],
} as const;
const allRoles = 4;

/** All servers that share the database. */
export function NodesCard({ nodes }: { nodes: readonly Node[] }) {
  const ready = nodes.filter(({ state }) => state === 'ready').length;
  return (
    <Card
      title="Servers"
      actions={
        <Badge tone={ready === nodes.length ? 'good' : 'warning'}>
          {ready === nodes.length ? `${ready} ready` : `${ready} of ${nodes.length} ready`}
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
  const [tone, name] = states[state];
  const figures = [
    ...(load === undefined ? [] : [`CPU ${formatPercent(load.machinePercent)}`]),
    ...(load === undefined ? [] : [count(load.broadcasts, 'broadcast')]),
    count(jobs, 'job'),
    ...(load === undefined ? [] : [count(load.viewers, 'viewer')]),
  ];
  return (
    <li class="node">
      <div class="node-head">
        <strong title={node.nodeId}>{hostOf(url)}</strong>
        <Badge tone={tone}>{name}</Badge>
      </div>
      <FigureLine figures={figures} />
      <div class="quiet" title={`Started ${formatDateTime(startedAt)}`}>
        <FigureLine
          figures={[
            ...(isCurrent ? ['This server'] : []),
            roles.length === allRoles ? 'All roles' : roles.join(', '),
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

function count(value: number, noun: string): string {
  return `${formatNumber(value)} ${value === 1 ? noun : `${noun}s`}`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
