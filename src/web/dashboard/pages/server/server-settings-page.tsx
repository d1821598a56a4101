import { useState } from 'preact/hooks';
import type { ServerSetting } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/server.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { SearchField } from '../../ui/form/search-field.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page, Section } from '../../ui/page.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { ServerTabs } from './server-tabs.tsx';
import { SettingDescription } from './setting-description.tsx';
import { SettingDialog } from './setting-dialog.tsx';
import { valueLabel } from './setting-labels.ts';

export function ServerSettingsPage() {
  const loaded = useLoad('', signal => call('GET /server/settings', { signal }));
  const { query, change } = useQuery();
  const { search = '', filter = '' } = query;
  const [selected, setSelected] = useState<ServerSetting>();
  return (
    <Page title={t('server.title')} lead={t('settingList.lead')}>
      <ServerTabs current="/dashboard/server/settings" />
      <Section
        title={t('settingList.title')}
        actions={
          <>
            <SearchField
              label={t('settingList.search')}
              search={search}
              onSearch={text => change({ search: text === '' ? undefined : text })}
            />
            <SelectField
              label={t('settingList.filter')}
              hideLabel
              value={filter}
              options={[
                ['', t('settingList.all')],
                ['changeable', t('settingList.changeable')],
                ['set', t('settingList.notDefault')],
              ]}
              onValue={chosen => change({ filter: chosen === '' ? undefined : chosen })}
            />
          </>
        }
      >
        <LoadedContent loaded={loaded} height={560}>
          {({ settings }) => {
            const shown = settings.filter(setting => matches(setting, search, filter));
            return shown.length === 0 ? (
              <EmptyState
                icon="settings"
                title={t('settingList.none')}
                action={
                  <Button onClick={() => change({ search: undefined, filter: undefined })}>
                    {t('settingList.showAll')}
                  </Button>
                }
              />
            ) : (
              <SettingsTable settings={shown} onSelect={setSelected} />
            );
          }}
        </LoadedContent>
      </Section>
      {selected !== undefined && (
        <SettingDialog setting={selected} onClose={() => setSelected(undefined)} onChange={loaded.reload} />
      )}
    </Page>
  );
}

function SettingsTable({
  settings,
  onSelect,
}: {
  settings: readonly ServerSetting[];
  onSelect: (setting: ServerSetting) => void;
}) {
  return (
    <Table
      caption={t('settingList.title')}
      columns={[
        {
          head: t('settingList.setting'),
          cell: ({ name, description }) => (
            <div class="server-setting">
              <code>{name}</code>
              <p class="hint">
                <SettingDescription text={description} />
              </p>
            </div>
          ),
        },
        {
          head: t('settingList.value'),
          cell: setting => (
            <div class="server-setting-value">
              <span>{valueLabel(setting)}</span>
              {setting.origin === 'default' ? (
                <span class="hint">{t('settingList.origin.default')}</span>
              ) : (
                <Badge tone={setting.origin === 'dashboard' ? 'info' : 'neutral'}>
                  {t(`settingList.origin.${setting.origin}`)}
                </Badge>
              )}
              {setting.where !== undefined && <span class="hint">{setting.where}</span>}
            </div>
          ),
        },
        {
          head: t('settingList.actions'),
          isActions: true,
          cell: setting =>
            setting.isChangeable && (
              <Button
                small
                label={t('settingList.changeOf', { name: setting.name })}
                onClick={() => onSelect(setting)}
              >
                {t('settingList.change')}
              </Button>
            ),
        },
      ]}
      rows={settings}
      keyOf={({ name }) => name}
    />
  );
}

function matches(setting: ServerSetting, search: string, filter: string): boolean {
  if (filter === 'changeable' && !setting.isChangeable) return false;
  if (filter === 'set' && setting.origin === 'default') return false;
  const text = `${setting.name} ${setting.variable} ${setting.description}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}
