// A classic script beside the player's place: the player loads before the rest of the page has arrived.
{
  const place = document.getElementById('watch-player');
  const { address = '', title = '', width, height } = place?.dataset ?? {};
  if (top !== self) {
    // A browser that does not say where it shows the page: a frame gets the player alone.
    location.replace(address + location.hash);
  } else if (place !== null) {
    place.style.setProperty('--ratio', String(Number(width) / Number(height)));
    const frame = document.createElement('iframe');
    frame.title = title;
    frame.allow = 'autoplay; fullscreen; picture-in-picture; encrypted-media';
    const options = ['hide-title', 'api', 'sdkplayerid=watch', `sdkorigin=${btoa(location.origin)}`];
    frame.src = `${address}#${[location.hash.slice(1), ...options].join(';')}`;
    place.append(frame);
  }
}
