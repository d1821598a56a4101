import { useState } from 'preact/hooks';
import { maxProjectNameLength } from '../../../../shared/limits/resource-limits.ts';
import type { Project } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectsChanged } from '../../api/sessions.ts';
import { chooseProject } from '../../state/session.ts';
import { t } from '../../texts/account.ts';
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
      <TextField
        label={t('projects.name')}
        value={name}
        onValue={setName}
        field="name"
        maxLength={maxProjectNameLength}
      />
    </FormDialog>
  );
}

export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const save = async (name: string) => {
    const { projectId } = await call('POST /account/projects', { body: { name } });
    chooseProject(projectId);
    showToast(t('projects.switched', { name }));
  };
  return (
    <NameDialog
      title={t('projects.new')}
      action={t('projects.create')}
      before=""
      save={save}
      onClose={onClose}
    />
  );
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
    showToast(t('projects.renamed'));
  };
  return (
    <NameDialog
      title={t('projects.renameTitle')}
      action={t('projects.save')}
      before={before}
      save={save}
      onClose={onClose}
    />
  );
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
      title={t('projects.deleteTitle')}
      action={t('projects.delete')}
      name={name}
      work={async () => {
        await call('DELETE /account/projects/{projectId}', { params: { projectId } });
        showToast(t('projects.deleted'));
        await projectsChanged();
      }}
      onClose={onClose}
    >
      <p>{t('projects.deleteText')}</p>
    </ConfirmDialog>
  );
}
