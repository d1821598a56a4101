import { icon } from './icons.ts';

const ownButton = (id: string, name: Parameters<typeof icon>[0], attributes = '') =>
  `<media-chrome-button id="${id}" class="button" hidden ${attributes}>${icon(name)}${tooltip}</media-chrome-button>`;
const tooltip = '<span slot="tooltip-content"></span>';
const menuButton = 'aria-haspopup="menu" aria-expanded="false"';

/** The shadow tree of `millrace-controls`. It has no texts: they are those of the viewer's language. */
export const controlsTemplate = `
<media-controller id="player" class="player" nohotkeys gesturesdisabled novolumepref nomutedpref nosubtitleslangpref noautoseektolive autohide="3">
  <slot name="media" slot="media"></slot>
  <div id="stage" class="stage" slot="centered-chrome" noautohide>
    <img id="poster" class="poster" alt="">
    <div class="artwork-title" aria-hidden="true">${icon('volume')}<p id="artwork-title"></p></div>

    <section id="screen" class="screen">
      <div class="card">
        <div class="mark" aria-hidden="true"><i></i><i></i><i></i></div>
        <p id="card-name" class="card-name"></p>
        <div role="status"><h2 id="status-title" class="card-title"></h2><p id="status-text" class="card-text"></p></div>
        <div id="screen-actions" class="actions"></div>
      </div>
    </section>

    <div class="top"><h2 id="title" class="title"></h2></div>
    <div id="logo" class="logo"></div>
    <div id="ripple" class="ripple" aria-hidden="true"></div>
    <div class="spinner" aria-hidden="true"></div>
    <button id="big-play" class="big-play" type="button">${icon('play')}${icon('replay')}</button>
    <p id="badge" class="badge" aria-hidden="true"></p>
    <p id="hint" class="pill hint" role="status"></p>
    <button id="unmute" class="pill unmute" type="button">${icon('muted')}<span id="unmute-text"></span></button>
    <p id="notice" class="pill notice" role="status"></p>
    <div id="toast" class="pill toast" role="status" hidden></div>
    <section id="end" class="end" hidden></section>
    <section id="clip-card" class="clip-card" hidden></section>

    <section id="controls" class="controls" dir="ltr">
      <millrace-time-range id="seek" class="seek">
        <div slot="preview" class="preview" aria-hidden="true">
          <media-preview-thumbnail></media-preview-thumbnail>
          <p id="preview-chapter" class="preview-chapter"></p>
          <p id="preview-time" class="preview-time"></p>
        </div>
      </millrace-time-range>
      <div class="row">
        ${ownButton('previous', 'next')}
        <media-play-button id="play" class="button">${icon('play', 'play')}${icon('pause', 'pause')}${tooltip}</media-play-button>
        ${ownButton('next', 'next')}
        <media-mute-button id="mute" class="button">${icon('muted', 'off')}${icon('volume-low', 'low')}${icon('volume', 'medium')}${icon('volume', 'high')}${tooltip}</media-mute-button>
        <media-volume-range id="volume" class="volume"></media-volume-range>
        <button id="live" class="live" type="button" hidden><span class="dot"></span><span id="live-text"></span></button>
        <span id="latency" class="quiet latency" hidden></span>
        <span id="viewers" class="quiet viewers" hidden></span>
        <span id="time" class="time" hidden><span id="time-now"></span><span id="time-total" class="time-total"></span></span>
        <button id="chapter" class="chapter" type="button" ${menuButton} hidden><span id="chapter-name"></span></button>
        <span class="space"></span>
        ${ownButton('playlist', 'playlist', 'aria-haspopup="dialog"')}
        ${ownButton('clip', 'clip', menuButton)}
        ${ownButton('captions', 'captions', menuButton)}
        ${ownButton('settings', 'settings', menuButton)}
        ${ownButton('share', 'share', 'aria-haspopup="dialog"')}
        <media-airplay-button id="airplay" class="button">${icon('airplay', 'icon')}${tooltip}</media-airplay-button>
        <media-pip-button id="pip" class="button">${icon('pip', 'icon')}${tooltip}</media-pip-button>
        ${ownButton('theatre', 'theatre', 'aria-pressed="false"')}
        <media-fullscreen-button id="fullscreen" class="button">${icon('fullscreen', 'enter')}${icon('exit-fullscreen', 'exit')}${tooltip}</media-fullscreen-button>
      </div>
      <div id="menu" class="menu" role="menu" hidden></div>
    </section>
    <div id="dialogs"></div>
  </div>
</media-controller>`;
