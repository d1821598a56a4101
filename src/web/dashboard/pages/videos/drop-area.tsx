import { useEffect, useState } from 'preact/hooks';
import { t } from '../../texts/videos.ts';
import { Icon } from '../../ui/icon.tsx';
import { showToast } from '../../ui/toast.tsx';

export function DropArea({ onFiles }: { onFiles: (files: File[]) => void }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // `dragenter` of a child comes before `dragleave` of its parent.
    let depth = 0;
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true;
    const handlers = {
      dragenter: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        depth += 1;
        setOver(true);
      },
      dragleave: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        depth = Math.max(0, depth - 1);
        if (depth === 0) setOver(false);
      },
      dragover: (event: DragEvent) => {
        if (hasFiles(event)) event.preventDefault();
      },
      drop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth = 0;
        setOver(false);
        const files = filesOf(event);
        if (files.length > 0) onFiles(files);
      },
    };
    for (const [type, handle] of Object.entries(handlers)) {
      document.addEventListener(type, handle as EventListener);
    }
    return () => {
      for (const [type, handle] of Object.entries(handlers)) {
        document.removeEventListener(type, handle as EventListener);
      }
    };
  }, []);
  if (!isOver) return null;
  return (
    <div class="drop-area">
      <p>
        <Icon name="upload" size={32} />
        {t('videos.drop')}
      </p>
    </div>
  );
}

export function filesOf({ dataTransfer }: DragEvent): File[] {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry()?.isDirectory === true;
  if (items.some(isFolder)) showToast(t('videos.noFolders'));
  return items.filter(item => !isFolder(item)).flatMap(item => item.getAsFile() ?? []);
}
