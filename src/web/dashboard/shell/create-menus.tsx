import { lowerFirst } from '../format/lower-first.ts';
import { can } from '../state/session.ts';
import { openShellDialog } from '../state/shell-dialog.ts';
import { Button } from '../ui/button.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';

const goLiveItems: readonly MenuItem[] = [
  { label: 'From this browser', icon: 'video', onClick: () => openShellDialog('browser') },
  { label: 'With OBS or another encoder', icon: 'live', onClick: () => openShellDialog('encoder') },
  { label: 'Pull a source', icon: 'link', onClick: () => openShellDialog('source') },
];
const uploadItem: MenuItem = {
  label: 'Upload videos',
  icon: 'upload',
  onClick: () => openShellDialog('upload'),
};

/** The buttons that add media, on every page. Narrow screens have one menu for them. */
export function CreateMenus() {
  if (!can('upload') && !can('live')) return null;
  return (
    <>
      <div class="create wide-create">
        {can('live') && <Menu label="Go live" icon="live" isLabelled items={goLiveItems} />}
        {can('upload') && (
          <Button icon="upload" label="Upload, choose files" onClick={() => openShellDialog('upload')}>
            Upload
          </Button>
        )}
      </div>
      <div class="create narrow-create">
        <Menu
          label="Create"
          icon="plus"
          items={[
            ...(can('live')
              ? goLiveItems.map(item => ({
                  ...item,
                  label: item.label.startsWith('Pull') ? item.label : `Go live ${lowerFirst(item.label)}`,
                }))
              : []),
            ...(can('upload') ? [uploadItem] : []),
          ]}
        />
      </div>
    </>
  );
}
