import { localTime } from './log-times.js'

/** Lines that the list shows; the arrows go through all of them. */
const maxShown = 200

/** Lists the lines that a search found; each leads to its place in the log. */
export function listHits(list, hits, current) {
  list.hidden = hits.length === 0
  list.replaceChildren(...hits.slice(0, maxShown).map((hit) => row(hit, hit.seq === current)))
  list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
}

function row({ seq, time, text, deploymentId, process, replica }, isCurrent) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `#L${seq}`
  if (isCurrent) link.setAttribute('aria-current', 'true')
  const at = document.createElement('time')
  at.dateTime = at.title = time
  at.textContent = localTime(new Date(time))
  const origin = document.createElement('span')
  origin.className = 'muted'
  const name = replica ? `${process} ${replica}` : process
  origin.textContent = [name, deploymentId?.slice(-12)].filter(Boolean).join(' ')
  const line = document.createElement('span')
  line.textContent = plain(text).slice(0, 500)
  link.append(at, origin, line)
  item.append(link)
  return item
}

/** Without colours and other commands to a terminal. */
const plain = (text) =>
  text.replace(/\u001b(\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(\u0007|\u001b\\)?|.)/g, '')
