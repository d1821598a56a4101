import { useState } from 'preact/hooks';
import { titleOf } from '../../format/video-title.ts';
import { SelectField, TextArea, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Card, DetailList } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditButton, EditForm, useReturnedFocus } from './edit-form.tsx';
import { languageName, spokenLanguages } from './tracks/languages.ts';
import type { EditedVideo } from './use-video.ts';

export function DetailsCard(edited: EditedVideo) {
  const [isEditing, setEditing] = useState(false);
  const button = useReturnedFocus(isEditing);
  const { video } = edited;
  return (
    <Card
      title="Details"
      actions={
        !isEditing && <EditButton buttonRef={button} what="details" onClick={() => setEditing(true)} />
      }
    >
      {isEditing ? (
        <DetailsForm {...edited} onDone={() => setEditing(false)} />
      ) : (
        <DetailList
          rows={[
            ['Title', titleOf(video)],
            [
              'Description',
              video.description === '' ? (
                <span class="quiet">None</span>
              ) : (
                <p class="description">{video.description}</p>
              ),
            ],
            [
              'Language',
              video.language === undefined ? (
                <span class="quiet">Not set</span>
              ) : (
                languageName(video.language)
              ),
            ],
          ]}
        />
      )}
    </Card>
  );
}

function DetailsForm({ video, change, onDone }: EditedVideo & { onDone: () => void }) {
  const [title, setTitle] = useState(video.title);
  const [description, setDescription] = useState(video.description);
  const [language, setLanguage] = useState(video.language ?? '');
  const submission = useSubmit(async () => {
    await change({
      title,
      description,
      ...(language === (video.language ?? '') ? {} : { language: language === '' ? null : language }),
    });
    showToast('Details saved.');
    onDone();
  });
  return (
    <EditForm submission={submission} onClose={onDone}>
      <TextField label="Title" value={title} onValue={setTitle} error={submission.errorOf('title')} />
      <TextArea
        label="Description"
        value={description}
        onValue={setDescription}
        error={submission.errorOf('description')}
      />
      <SelectField
        label="Spoken language"
        value={language}
        onValue={setLanguage}
        error={submission.errorOf('language')}
        options={[['', 'Not set'], ...spokenLanguages()]}
      />
    </EditForm>
  );
}
