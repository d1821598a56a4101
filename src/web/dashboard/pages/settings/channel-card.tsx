import { useState } from 'preact/hooks';
import type { Channel } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { can, environment, project } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { CopyField } from '../../ui/copy.tsx';
import { CheckField, Field, TextArea, TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { FieldValues } from '../../ui/form/form-context.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useChannel } from '../../ui/hooks/use-channel.ts';
import { LearnMore, Section } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { ChannelLogo } from './channel-logo.tsx';

const standardAccent = '#0a7a66';

export function ChannelCard() {
  const loaded = useChannel();
  return (
    <Section
      isSplit
      title={t('channel.title')}
      id="channel"
      lead={
        <>
          {t('channel.lead')} <LearnMore docs="playing#the-channel" />
        </>
      }
    >
      {environment.value === 'sandbox' ? (
        <p>{t('channel.ofProduction')}</p>
      ) : (
        <LoadedContent loaded={loaded} height={420}>
          {channel => (
            <>
              {channel.url !== undefined && <ChannelLink url={channel.url} />}
              {can('admin') ? (
                <>
                  <ChannelForm channel={channel} onChange={loaded.set} />
                  <ChannelLogo channel={channel} onChange={loaded.set} onRemoved={loaded.reload} />
                </>
              ) : (
                channel.url === undefined && <p>{t('channel.off')}</p>
              )}
            </>
          )}
        </LoadedContent>
      )}
    </Section>
  );
}

function ChannelLink({ url }: { url: string }) {
  return (
    <>
      <CopyField label={t('channel.link')} value={url} />
      <div class="actions">
        <a class="button" href={url} target="_blank" rel="noreferrer">
          {t('channel.open')}
        </a>
      </div>
    </>
  );
}

function ChannelForm({ channel, onChange }: { channel: Channel; onChange: (channel: Channel) => void }) {
  const before = valuesOf(channel);
  const [values, setValues] = useState(before);
  const isReady = JSON.stringify(values) !== JSON.stringify(before);
  const submission = useSubmit(async () => {
    const { enabled, name, slug, description, accentColor } = values;
    const changed = await call('PATCH /account/channel', {
      body: {
        enabled,
        name,
        description,
        slug: slug === '' ? null : slug,
        accentColor: accentColor === standardAccent ? null : accentColor,
      },
    });
    onChange(changed);
    setValues(valuesOf(changed));
    showToast(changed.enabled === channel.enabled ? t('channel.saved') : toggled(changed.enabled));
  });
  return (
    <Form submission={submission} disabled={!isReady}>
      <FieldValues values={values} onValues={setValues}>
        <CheckField field="enabled" label={t('channel.show')} hint={t('channel.showHint')} />
        <TextField field="name" label={t('channel.name')} maxLength={100} />
        <TextField
          field="slug"
          label={t('channel.address')}
          maxLength={64}
          spellcheck={false}
          placeholder="pier-tv"
          hint={t('channel.addressHint', { path: `/channel/${values.slug || '…'}` })}
        />
        <TextArea field="description" label={t('channel.description')} rows={3} maxLength={2000} />
        <Field label={t('channel.accent')} field="accentColor" hint={t('channel.accentHint')}>
          {attributes => (
            <input
              {...attributes}
              type="color"
              class="accent-input"
              value={values.accentColor}
              onInput={event => setValues({ ...values, accentColor: event.currentTarget.value })}
            />
          )}
        </Field>
      </FieldValues>
      <FormActions action={t('channel.save')} disabled={!isReady} />
    </Form>
  );
}

function valuesOf({ enabled, name, slug, description, accentColor }: Channel) {
  const projectName = project.value?.name ?? '';
  const isNew = name === '' && slug === undefined;
  return {
    enabled,
    name: isNew ? projectName : name,
    slug: isNew ? slugOf(projectName) : (slug ?? ''),
    description,
    accentColor: accentColor ?? standardAccent,
  };
}

/** Suggests an address. */
function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '');
}

function toggled(isOn: boolean): string {
  return t(isOn ? 'channel.on' : 'channel.off');
}
