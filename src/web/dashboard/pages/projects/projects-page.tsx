import { useState } from 'preact/hooks';
import { maxProjects } from '../../../../shared/limits/resource-limits.ts';
import type { Project } from '../../api/api-types.ts';
import { formatDate } from '../../format/time.ts';
import { can, chooseProject, project, session } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { useNewDialog } from '../../ui/hooks/use-new-dialog.ts';
import { Page, Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { CreateProjectDialog, DeleteProjectDialog, RenameProjectDialog } from './project-dialogs.tsx';

const lead =
  'Each project has its own videos, live streams, API keys and webhooks, in the sandbox and in production. Your team has access to all of them.';
const limitText = `An account can have ${maxProjects} projects. Delete one to create another.`;

type OpenDialog = { readonly kind: 'rename' | 'delete'; readonly of: Project };

export function ProjectsPage() {
  const [isCreating, setCreating] = useNewDialog();
  const [openDialog, setOpenDialog] = useState<OpenDialog>();
  const all = session.value?.allProjects ?? [];
  const close = () => setOpenDialog(undefined);
  return (
    <Page
      title="Projects"
      lead={all.length < maxProjects ? lead : `${lead} ${limitText}`}
      actions={
        can('admin') && (
          <Button
            kind="primary"
            icon="plus"
            disabled={all.length >= maxProjects}
            onClick={() => setCreating(true)}
          >
            New project
          </Button>
        )
      }
    >
      <Section>
        <Table
          caption="Projects"
          rows={all}
          keyOf={({ projectId }) => projectId}
          columns={columnsOf(all.length, setOpenDialog)}
        />
        {all.length === 1 && (
          <EmptyState icon="copy" title="You have one project">
            Create another one for a second app, brand or customer, with its own media, keys and statistics.
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
      head: 'Project',
      cell: ({ projectId, name }) => (
        <span class="name-row">
          <bdi>{name}</bdi>
          {projectId === project.value?.projectId && <Badge tone="good">Current</Badge>}
        </span>
      ),
    },
    { head: 'Created', cell: ({ createdAt }) => formatDate(createdAt) },
    {
      head: 'Actions',
      isActions: true,
      cell: one => (
        <>
          {one.projectId !== project.value?.projectId && (
            <Button small label={`Switch to ${one.name}`} onClick={() => chooseProject(one.projectId)}>
              Switch
            </Button>
          )}
          {can('admin') && (
            <IconButton
              icon="edit"
              label={`Rename ${one.name}`}
              onClick={() => onOpenDialog({ kind: 'rename', of: one })}
            />
          )}
          {can('admin') && count > 1 && (
            <IconButton
              icon="trash"
              label={`Delete ${one.name}`}
              onClick={() => onOpenDialog({ kind: 'delete', of: one })}
            />
          )}
        </>
      ),
    },
  ];
  return columns;
}
