import { useState } from 'preact/hooks';
import { languageName } from '../../format/languages.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { TextArea, TextField } from '../../ui/form/field.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { describePolicy, OwnPolicyFields, policyChoicesOf, policyOf } from '../../ui/form/policy-fields.tsx';
import { SpokenLanguageField } from '../../ui/form/spoken-language-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Card, DetailList } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditButton, EditForm, useReturnedFocus } from './edit-form.tsx';
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
            [
              'Expires',
              video.expiresAt === undefined ? (
                <span class="quiet">Never</span>
              ) : (
                formatDateTime(video.expiresAt)
              ),
            ],
            [
              'Playback policy',
              video.playbackPolicy === undefined ? (
                <span class="quiet">Project default</span>
              ) : (
                describePolicy(video.playbackPolicy)
              ),
            ],
          ]}
        />
      )}
    </Card>
  );
}

function DetailsForm({ video, change, onDone }: EditedVideo & { onDone: () => void }) {
  const storedDay = video.expiresAt === undefined ? '' : localDay(video.expiresAt);
  const [values, setValues] = useState({
    title: video.title,
    description: video.description,
    language: video.language ?? '',
    expiresAt: storedDay,
  });
  const { title, description, language, expiresAt: expiryDay } = values;
  const storedPolicy = video.playbackPolicy && policyChoicesOf(video.playbackPolicy);
  const [policy, setPolicy] = useState(storedPolicy);
  const isPolicyChanged = JSON.stringify(policy) !== JSON.stringify(storedPolicy);
  const submission = useSubmit(async () => {
    await change({
      title,
      description,
      ...(language === (video.language ?? '') ? {} : { language: language === '' ? null : language }),
      ...(expiryDay === storedDay ? {} : { expiresAt: expiryDay === '' ? null : endOfDay(expiryDay) }),
      ...(isPolicyChanged ? { playbackPolicy: policy === undefined ? null : policyOf(policy) } : {}),
    });
    showToast('Details saved.');
    onDone();
  });
  return (
    <EditForm submission={submission} onClose={onDone}>
      <FieldValues values={values} onValues={setValues}>
        <TextField field="title" label="Title" />
        <TextArea field="description" label="Description" />
        <SpokenLanguageField />
        <TextField
          field="expiresAt"
          label="Expires on"
          type="date"
          hint="The video is deleted at the end of this day. Without a date, it’s kept."
        />
      </FieldValues>
      <OwnPolicyFields own={policy} onOwn={setPolicy} />
    </EditForm>
  );
}

/** `YYYY-MM-DD`. */
function localDay(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

function endOfDay(localDay: string): string {
  return new Date(`${localDay}T23:59:59`).toISOString();
}
