// A classic script beside the player: the rest of the page may still be on its way.
{
  const player = document.getElementById('watch-player');
  const { address = '', width, height } = player?.dataset ?? {};
  if (top !== self) {
    // A browser that does not say where it shows the page: a frame gets the player alone.
    location.replace(`${address}${address.includes('?') ? '&' : '?'}embed${location.hash}`);
  } else if (player !== null) {
    player.style.setProperty('--ratio', String(Number(width) / Number(height)));
    player.dataset.state = document.getElementById('page')?.dataset.state;
    player.setAttribute('src', address + location.hash);
  }
}
