import { useState } from 'preact/hooks';
import type { Player } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { themeName } from '../../format/theme-name.ts';
import { formatDateTime } from '../../format/time.ts';
import { t } from '../../texts/players.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { LeaveGuard } from '../../ui/dialog/leave-guard.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { CheckField, TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { DetailList, Page, Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { AccentField } from './accent-field.tsx';
import { ColorField } from './color-field.tsx';
import { DeleteThemeDialog } from './delete-theme-dialog.tsx';
import { LogoCard } from './logo-card.tsx';
import {
  changesOf,
  colorGroups,
  draftOf,
  invalidColors,
  lowContrast,
  previewOf,
  switchNames,
  type ThemeDraft,
} from './theme-draft.ts';
import { ThemePreview } from './theme-preview.tsx';

export function ThemeEditor({
  player,
  onSaved,
  reload,
}: {
  player: Player;
  onSaved: (player: Player) => void;
  reload: () => void;
}) {
  const { route } = useLocation();
  const [draft, setDraft] = useState<ThemeDraft>(() => draftOf(player));
  const [isDeleting, setDeleting] = useState(false);
  const { playerId, assets, updatedAt } = player;
  const changes = changesOf(player, draft);
  const isChanged = Object.keys(changes).length > 0;
  const wrong = invalidColors(draft);
  const isAdvancedWrong =
    wrong.some(name => name !== 'trackPlayed') ||
    colorGroups.some(({ colors }) => colors.some(entry => lowContrast(draft, entry) !== undefined));
  const submission = useSubmit(async () => {
    const saved = await call('PATCH /players/{playerId}', { params: { playerId }, body: changes });
    onSaved(saved);
    setDraft(draftOf(saved));
    showToast(t('theme.saved'));
  });
  const put = (change: Partial<ThemeDraft>) => setDraft(before => ({ ...before, ...change }));
  const logo =
    assets.logo === null ? undefined : { src: versionedUrl(assets.logo, updatedAt), link: assets.link };
  return (
    <Page
      title={themeName(player)}
      back={{ href: '/dashboard/players', label: t('players.title') }}
      badge={isChanged && <Badge tone="warning">{t('theme.unsaved')}</Badge>}
      actions={
        <Button icon="trash" onClick={() => setDeleting(true)}>
          {t('players.delete')}
        </Button>
      }
    >
      <div class="theme-editor">
        <ThemePreview theme={previewOf(draft, logo)} />
        <Form
          class="stack"
          label={t('theme.form')}
          submission={submission}
          disabled={!isChanged || wrong.length > 0}
        >
          <Section title={t('theme.accent')}>
            <AccentField value={draft.trackPlayed} onValue={trackPlayed => put({ trackPlayed })} />
          </Section>
          <Section title={t('players.name')}>
            <TextField
              label={t('players.name')}
              hideLabel
              hint={t('theme.nameHint')}
              value={draft.name}
              onValue={name => put({ name })}
              field="name"
              maxLength={100}
            />
          </Section>
          <Section title={t('theme.behavior')}>
            {switchNames.map(name => (
              <CheckField
                key={name}
                label={t(`theme.switch.${name}`)}
                hint={t(`theme.switchHint.${name}`)}
                checked={draft[name]}
                onValue={checked => put({ [name]: checked })}
              />
            ))}
          </Section>
          <details class="more-options" open={isAdvancedWrong}>
            <summary>{t('theme.advanced')}</summary>
            <div class="stack">
              <p class="quiet">{t('theme.advancedHint')}</p>
              {colorGroups.map(({ name: group, colors }) => (
                <Section key={group} title={t(`theme.group.${group}`)}>
                  {colors.map(entry => (
                    <ColorField
                      key={entry.name}
                      label={t(`theme.color.${entry.name}`)}
                      value={draft[entry.name]}
                      contrast={lowContrast(draft, entry)}
                      field={entry.name}
                      onValue={value => put({ [entry.name]: value })}
                    />
                  ))}
                </Section>
              ))}
            </div>
          </details>
          <div class="save-bar">
            <ProblemNotice problem={submission.notice} />
            <div class="actions">
              <p class="quiet" role="status">
                {wrong.length > 0
                  ? t('theme.invalid')
                  : isChanged
                    ? t('theme.notSaved')
                    : t('theme.allSaved')}
              </p>
              <Button
                disabled={!isChanged || submission.busy}
                onClick={() => {
                  submission.clear();
                  setDraft(draftOf(player));
                }}
              >
                {t('theme.discard')}
              </Button>
              <Button
                kind="primary"
                type="submit"
                disabled={!isChanged || wrong.length > 0}
                busy={submission.busy}
              >
                {t('theme.save')}
              </Button>
            </div>
          </div>
        </Form>
        <div class="stack">
          <LogoCard player={player} src={logo?.src} onChanged={reload} />
          <Section title={t('theme.use')}>
            <p>{t('theme.useText')}</p>
            <DetailList
              rows={[
                [t('theme.id'), <code key="id">{playerId}</code>],
                [t('theme.created'), formatDateTime(player.createdAt)],
                [t('players.updated'), formatDateTime(updatedAt)],
              ]}
            />
          </Section>
        </div>
      </div>
      <LeaveGuard isActive={isChanged} />
      {isDeleting && (
        <DeleteThemeDialog
          player={player}
          onDeleted={() => route('/dashboard/players')}
          onClose={() => setDeleting(false)}
        />
      )}
    </Page>
  );
}
