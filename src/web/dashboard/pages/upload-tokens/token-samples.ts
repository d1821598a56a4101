export function curlSample(origin: string, token: string): string {
  return `curl -F file=@video.mp4 "${origin}/upload?token=${token}"`;
}

export function pageSample(origin: string, token: string): string {
  return `<input type="file" id="film" accept="video/*">
<script type="module">
  const film = document.getElementById('film');
  const chunk = 50 * 1024 * 1024;
  film.onchange = async () => {
    const [file] = film.files;
    const parts = Math.ceil(file.size / chunk);
    let videoId;
    for (let part = 1; part <= parts; part += 1) {
      const body = new FormData();
      if (videoId) body.append('videoId', videoId);
      body.append('file', file.slice((part - 1) * chunk, part * chunk), file.name);
      const answer = await fetch('${origin}/upload?token=${token}', {
        method: 'POST',
        headers: { 'Content-Range': \`part \${part}/\${parts}\` },
        body,
      });
      const told = await answer.json();
      if (!answer.ok) throw new Error(told.title);
      videoId = told.videoId;
    }
  };
</script>
`;
}
