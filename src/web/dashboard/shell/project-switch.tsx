import { can, chooseProject, project, session } from '../state/session.ts';
import { t } from '../texts/shell.ts';
import { useLocation } from '../ui/hooks/use-location.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { listPathOf } from './list-path.ts';

/** Hidden from those who have one project and cannot create another one. */
export function ProjectSwitch({ onGo }: { onGo?: () => void }) {
  const { path, route } = useLocation();
  const all = session.value?.allProjects ?? [];
  const chosen = project.value;
  if (chosen === undefined || (all.length < 2 && !can('admin'))) return null;
  const choose = (projectId: string) => {
    onGo?.();
    if (projectId === chosen.projectId) return;
    chooseProject(projectId);
    const list = listPathOf(path);
    if (list !== path) route(list);
  };
  return (
    <section class="project-switch" aria-label={t('nav.project')}>
      <Menu
        label={t('nav.project')}
        items={[
          ...all.map(({ projectId, name }) => ({
            label: name,
            isChosen: projectId === chosen.projectId,
            ...(projectId === chosen.projectId ? { icon: 'check' as const } : {}),
            leaves: true,
            onClick: () => choose(projectId),
          })),
          {
            label: t('project.manage'),
            icon: 'edit',
            leaves: true,
            onClick: () => {
              onGo?.();
              route('/dashboard/projects');
            },
          },
        ]}
      >
        <span class="project-name">{chosen.name}</span>
        <Icon name="down" size={16} />
      </Menu>
    </section>
  );
}
