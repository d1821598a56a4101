import { useState } from 'preact/hooks';
import { maxProjects } from '../../../../shared/limits/resource-limits.ts';
import type { Project } from '../../api/api-types.ts';
import { formatDate } from '../../format/time.ts';
import { can, chooseProject, project, session } from '../../state/session.ts';
import { t } from '../../texts/account.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { Page, Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { CreateProjectDialog, DeleteProjectDialog, RenameProjectDialog } from './project-dialogs.tsx';

type OpenDialog = { readonly kind: 'rename' | 'delete'; readonly of: Project };

export function ProjectsPage() {
  const [isCreating, setCreating] = useNewDialog();
  const [openDialog, setOpenDialog] = useState<OpenDialog>();
  const all = session.value?.allProjects ?? [];
  const close = () => setOpenDialog(undefined);
  const lead = t('projects.lead');
  return (
    <Page
      title={t('projects.title')}
      lead={all.length < maxProjects ? lead : `${lead} ${t('projects.limit', { count: maxProjects })}`}
      actions={
        can('admin') && (
          <Button
            kind="primary"
            icon="plus"
            disabled={all.length >= maxProjects}
            onClick={() => setCreating(true)}
          >
            {t('projects.new')}
          </Button>
        )
      }
    >
      <Section>
        <Table
          caption={t('projects.title')}
          rows={all}
          keyOf={({ projectId }) => projectId}
          columns={columnsOf(all.length, setOpenDialog)}
        />
        {all.length === 1 && (
          <EmptyState icon="copy" title={t('projects.oneTitle')}>
            {t('projects.oneText')}
          </EmptyState>
        )}
      </Section>
      {isCreating && can('admin') && <CreateProjectDialog onClose={() => setCreating(false)} />}
      {openDialog?.kind === 'rename' && <RenameProjectDialog project={openDialog.of} onClose={close} />}
      {openDialog?.kind === 'delete' && <DeleteProjectDialog project={openDialog.of} onClose={close} />}
    </Page>
  );
}

function columnsOf(count: number, onOpenDialog: (openDialog: OpenDialog) => void): Column<Project>[] {
  const columns: Column<Project>[] = [
    {
      head: t('projects.project'),
      cell: ({ projectId, name }) => (
        <span class="name-row">
          <bdi>{name}</bdi>
          {projectId === project.value?.projectId && <Badge tone="good">{t('projects.current')}</Badge>}
        </span>
      ),
    },
    { head: t('projects.createdAt'), cell: ({ createdAt }) => formatDate(createdAt) },
    {
      head: t('projects.actions'),
      isActions: true,
      cell: one => (
        <>
          {one.projectId !== project.value?.projectId && (
            <Button
              small
              label={t('projects.switchLabel', { name: one.name })}
              onClick={() => chooseProject(one.projectId)}
            >
              {t('projects.switch')}
            </Button>
          )}
          {can('admin') && (
            <IconButton
              icon="edit"
              label={t('projects.renameLabel', { name: one.name })}
              onClick={() => onOpenDialog({ kind: 'rename', of: one })}
            />
          )}
          {can('admin') && count > 1 && (
            <IconButton
              icon="trash"
              label={t('projects.deleteLabel', { name: one.name })}
              onClick={() => onOpenDialog({ kind: 'delete', of: one })}
            />
          )}
        </>
      ),
    },
  ];
  return columns;
}
