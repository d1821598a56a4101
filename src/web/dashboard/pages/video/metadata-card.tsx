import { useRef, useState } from 'preact/hooks';
import { t } from '../../texts/video.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditButton, EditForm, useReturnedFocus } from './edit-form.tsx';
import type { EditedVideo } from './use-video.ts';

export function MetadataCard(edited: EditedVideo) {
  const [isEditing, setEditing] = useState(false);
  const button = useReturnedFocus(isEditing);
  const { metadata } = edited.video;
  return (
    <Section
      title={t('metadata.title')}
      actions={
        !isEditing && (
          <EditButton buttonRef={button} label={t('metadata.edit')} onClick={() => setEditing(true)} />
        )
      }
    >
      {isEditing ? (
        <MetadataForm {...edited} onDone={() => setEditing(false)} />
      ) : metadata.length === 0 ? (
        <p class="quiet">{t('metadata.none')}</p>
      ) : (
        <dl class="facts">
          {metadata.map(({ key, value }, index) => (
            <div key={index}>
              <dt>{key}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}

interface Row {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

function MetadataForm({ video, change, onDone }: EditedVideo & { onDone: () => void }) {
  const count = useRef(0);
  const empty = (): Row => ({ id: ++count.current, key: '', value: '' });
  const [rows, setRows] = useState<readonly Row[]>(() => {
    const present = video.metadata.map(entry => ({ ...empty(), ...entry }));
    return present.length === 0 ? [empty()] : present;
  });
  const set = (id: number, part: Partial<Row>) =>
    setRows(rows.map(row => (row.id === id ? { ...row, ...part } : row)));
  const filled = rows
    .filter(({ key, value }) => key.trim() !== '' || value.trim() !== '')
    .map(({ key, value }) => ({ key: key.trim(), value }));
  const isChanged = JSON.stringify(filled) !== JSON.stringify(video.metadata);
  const submission = useSubmit(async () => {
    await change({ metadata: filled });
    showToast(t('metadata.saved'));
    onDone();
  });
  return (
    <EditForm submission={submission} isChanged={isChanged} onClose={onDone}>
      <ul class="metadata-rows">
        {rows.map(({ id, key, value }, index) => (
          <li key={id}>
            <TextField
              label={t('metadata.nameNumber', { number: index + 1 })}
              hideLabel
              placeholder={t('metadata.name')}
              value={key}
              onValue={text => set(id, { key: text })}
            />
            <TextField
              label={t('metadata.valueNumber', { number: index + 1 })}
              hideLabel
              placeholder={t('metadata.value')}
              value={value}
              onValue={text => set(id, { value: text })}
            />
            <IconButton
              icon="close"
              label={t('metadata.remove', { number: index + 1 })}
              onClick={() => setRows(rows.filter(row => row.id !== id))}
            />
          </li>
        ))}
      </ul>
      <div>
        <Button small icon="plus" onClick={() => setRows([...rows, empty()])}>
          {t('metadata.add')}
        </Button>
      </div>
    </EditForm>
  );
}
