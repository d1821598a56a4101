import { can } from '../state/session.ts';
import { openShellDialog } from '../state/shell-dialog.ts';
import { t } from '../texts/shell.ts';
import { Button } from '../ui/button.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';

/** The buttons that add media, on every page. Narrow screens have one menu for them. */
export function CreateMenus() {
  if (!can('upload') && !can('live')) return null;
  return (
    <>
      <div class="create wide-create">
        {can('live') && (
          <Menu
            label={t('create.goLive')}
            icon="live"
            isLabelled
            items={goLiveItems([t('create.browser'), t('create.encoder'), t('create.source')])}
          />
        )}
        {can('upload') && (
          <Button icon="upload" label={t('create.uploadFiles')} onClick={() => openShellDialog('upload')}>
            {t('create.upload')}
          </Button>
        )}
      </div>
      <div class="create narrow-create">
        <Menu
          label={t('create.title')}
          icon="plus"
          items={[
            ...(can('live')
              ? goLiveItems([t('create.goLiveBrowser'), t('create.goLiveEncoder'), t('create.goLiveSource')])
              : []),
            ...(can('upload') ? [uploadItem()] : []),
          ]}
        />
      </div>
    </>
  );
}

function goLiveItems([browser, encoder, source]: readonly [string, string, string]): readonly MenuItem[] {
  return [
    { label: browser, icon: 'video', onClick: () => openShellDialog('browser') },
    { label: encoder, icon: 'live', onClick: () => openShellDialog('encoder') },
    { label: source, icon: 'link', onClick: () => openShellDialog('source') },
  ];
}

function uploadItem(): MenuItem {
  return { label: t('create.uploadVideos'), icon: 'upload', onClick: () => openShellDialog('upload') };
}
