import { useState } from 'preact/hooks';
import { languageName } from '../../format/languages.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/video.ts';
import { TextArea, TextField } from '../../ui/form/field.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { SpokenLanguageField } from '../../ui/form/spoken-language-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { DetailList, Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditButton, EditForm, useReturnedFocus } from './edit-form.tsx';
import { TagsEditor } from './tags-editor.tsx';
import type { EditedVideo } from './use-video.ts';

/** Everything that is written about a video, beside its title. */
export function DetailsCard(edited: EditedVideo) {
  const [isEditing, setEditing] = useState(false);
  const button = useReturnedFocus(isEditing);
  const { description, language, expiresAt } = edited.video;
  return (
    <Section
      title={t('details.title')}
      actions={
        !isEditing && (
          <EditButton buttonRef={button} label={t('details.edit')} onClick={() => setEditing(true)} />
        )
      }
    >
      {isEditing ? (
        <DetailsForm {...edited} onDone={() => setEditing(false)} />
      ) : (
        <>
          {description === '' ? (
            <p class="quiet">{t('details.noDescription')}</p>
          ) : (
            <p class="description">
              <bdi>{description}</bdi>
            </p>
          )}
          <DetailList
            rows={[
              [
                t('details.language'),
                language === undefined ? (
                  <span class="quiet">{t('details.notSet')}</span>
                ) : (
                  languageName(language)
                ),
              ],
              [
                t('details.expires'),
                expiresAt === undefined ? (
                  <span class="quiet">{t('details.never')}</span>
                ) : (
                  formatDateTime(expiresAt)
                ),
              ],
            ]}
          />
        </>
      )}
      <TagsEditor {...edited} />
    </Section>
  );
}

function DetailsForm({ video, change, onDone }: EditedVideo & { onDone: () => void }) {
  const [stored] = useState({
    description: video.description,
    language: video.language ?? '',
    expiresAt: video.expiresAt === undefined ? '' : localDay(video.expiresAt),
  });
  const [values, setValues] = useState(stored);
  const { description, language, expiresAt } = values;
  const submission = useSubmit(async () => {
    // Changes of others stay.
    await change({
      ...(description === stored.description ? {} : { description }),
      ...(language === stored.language ? {} : { language: language === '' ? null : language }),
      ...(expiresAt === stored.expiresAt ? {} : { expiresAt: expiresAt === '' ? null : endOfDay(expiresAt) }),
    });
    showToast(t('details.saved'));
    onDone();
  });
  const isChanged = JSON.stringify(values) !== JSON.stringify(stored);
  return (
    <EditForm submission={submission} isChanged={isChanged} onClose={onDone}>
      <FieldValues values={values} onValues={setValues}>
        <TextArea field="description" label={t('details.description')} />
        <SpokenLanguageField />
        <TextField
          field="expiresAt"
          label={t('details.expiresOn')}
          type="date"
          hint={t('details.expiresHint')}
        />
      </FieldValues>
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
