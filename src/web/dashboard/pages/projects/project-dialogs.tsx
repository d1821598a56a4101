import { useState } from 'preact/hooks';
import { maxProjectNameLength } from '../../../../shared/limits/resource-limits.ts';
import type { Project } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectsChanged } from '../../api/sessions.ts';
import { chooseProject } from '../../state/session.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';

interface NameDialogProps {
  readonly title: string;
  readonly action: string;
  readonly before: string;
  readonly save: (name: string) => Promise<void>;
  readonly onClose: () => void;
}

function NameDialog({ title, action, before, save, onClose }: NameDialogProps) {
  const [name, setName] = useState(before);
  const submission = useSubmit(async () => {
    await save(name.trim());
    await projectsChanged();
    onClose();
  });
  return (
    <FormDialog
      title={title}
      action={action}
      submission={submission}
      disabled={name.trim() === '' || name.trim() === before}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onValue={setName} field="name" maxLength={maxProjectNameLength} />
    </FormDialog>
  );
}

export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const save = async (name: string) => {
    const { projectId } = await call('POST /account/projects', { body: { name } });
    chooseProject(projectId);
    showToast(`You’re now in ${name}.`);
  };
  return <NameDialog title="New project" action="Create project" before="" save={save} onClose={onClose} />;
}

export function RenameProjectDialog({
  project: { projectId, name: before },
  onClose,
}: {
  project: Project;
  onClose: () => void;
}) {
  const save = async (name: string) => {
    await call('PATCH /account/projects/{projectId}', { params: { projectId }, body: { name } });
    showToast('Project renamed.');
  };
  return <NameDialog title="Rename project" action="Save" before={before} save={save} onClose={onClose} />;
}

export function DeleteProjectDialog({
  project: { projectId, name },
  onClose,
}: {
  project: Project;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title="Delete this project?"
      action="Delete permanently"
      name={name}
      work={async () => {
        await call('DELETE /account/projects/{projectId}', { params: { projectId } });
        showToast('Project deleted.');
        await projectsChanged();
      }}
      onClose={onClose}
    >
      <p>
        Its API keys stop working immediately. Its webhooks, hooks, player themes, watermarks, signing keys
        and analytics are deleted, in the sandbox and in production. A project with videos or live streams
        cannot be deleted. Videos in the trash count.
      </p>
    </ConfirmDialog>
  );
}
