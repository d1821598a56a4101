import type { AuditEntry } from '../../api/api-types.ts';
import { environment as chosen, project } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { targetLabel } from './activity-labels.ts';

const pages: Readonly<Record<string, string>> = { video: 'videos', 'live-stream': 'live' };

/** Links to videos and live streams of the chosen environment and project. */
export function ActivityTarget({
  entry: { target, projectId },
  onFilter,
}: {
  entry: AuditEntry;
  onFilter: (targetId: string) => void;
}) {
  if (target === undefined) return <span class="nothing">–</span>;
  const page = pages[target.kind];
  const isHere = projectId !== undefined && projectId === project.value?.environmentIds[chosen.value];
  const isLinked = page !== undefined && target.exists === true && isHere;
  const label = targetLabel(target);
  return (
    <span class="activity-target">
      {isLinked ? (
        <a href={`/dashboard/${page}/${target.id}`}>{label}</a>
      ) : (
        <span title={target.id}>{label}</span>
      )}
      <IconButton
        icon="search"
        label={t('activity.showAbout', { target: label })}
        onClick={() => onFilter(target.id)}
      />
    </span>
  );
}
