// Asks the run how it is, and puts in what has changed. Where a token is needed it comes from the
// address (#token=...), which never leaves the browser, or from whoever looks.
'use strict';
const everyMs = 2000;
const shown = {};
const note = document.getElementById('connection');
let token = new URLSearchParams(location.hash.slice(1)).get('token') || sessionStorage.getItem('token') || '';
let failures = 0;

function tell(text) {
  if (note.textContent !== text) note.textContent = text;
  note.hidden = text === '';
}

function askForToken() {
  if (note.querySelector('input')) return;
  note.hidden = false;
  note.textContent = 'This run asks for its token: ';
  const input = document.createElement('input');
  input.type = 'password';
  input.setAttribute('aria-label', 'token');
  input.addEventListener('change', () => { token = input.value.trim(); tell('asking the run how it is...'); poll(); });
  note.append(input);
  input.focus();
}

function show(run) {
  document.title = run.title;
  for (const [id, html] of Object.entries(run.sections)) {
    if (shown[id] === html) continue;
    const place = document.getElementById(id);
    if (!place) continue;
    const log = place.querySelector('pre.log');
    const atEnd = !log || log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    const top = log ? log.scrollTop : 0;
    place.innerHTML = html;
    shown[id] = html;
    const after = place.querySelector('pre.log');
    if (after) after.scrollTop = atEnd ? after.scrollHeight : top;
  }
}

let timer = 0;
async function poll() {
  clearTimeout(timer);
  let next = everyMs;
  try {
    const abort = new AbortController();
    const limit = setTimeout(() => abort.abort(), 8000);
    const answer = await fetch('sections.json', {
      headers: token ? {Authorization: 'Bearer ' + token} : {}, cache: 'no-store', signal: abort.signal});
    if (answer.status === 401) {
      clearTimeout(limit);
      askForToken();
      return;
    }
    if (!answer.ok) throw new Error('status ' + answer.status);
    const run = await answer.json();
    clearTimeout(limit);
    if (token) sessionStorage.setItem('token', token);
    failures = 0;
    show(run);
    tell('');
  } catch (error) {
    failures += 1;
    next = Math.min(everyMs * failures, 15000);
    tell(Object.keys(shown).length
      ? 'The run does not answer. Its process may have ended; what is shown is how it was last.'
      : 'The run does not answer.');
  }
  timer = setTimeout(poll, document.hidden ? 5 * next : next);
}
document.addEventListener('visibilitychange', () => { if (!document.hidden) poll(); });
poll();
