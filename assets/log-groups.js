/**
 * The lines of a log in groups that fold: the steps of a deployment. What it counts as a row is the head of
 * a group, or a line of one that is open; lines that belong to none yet stand at the end.
 */
export class LogGroups {
  isAtEnd = true
  following = true
  #lines
  #changed
  #groups = []
  #byKey = new Map()
  /** The last line that is in a group. */
  #grouped = 0

  /** `lines` are numbered without gaps. `changed` is called when a group was folded or unfolded by hand. */
  constructor(lines, { changed }) {
    this.#lines = lines
    this.#changed = changed
  }

  /** Begins with what the server drew, and forgets it. */
  takeOver(list) {
    const drawn = [...list.querySelectorAll('details')]
    this.update({ groups: drawn.map(({ dataset }) => JSON.parse(dataset.group)) })
    const rows = list.querySelectorAll('.line')
    this.#lines.takeOver({ children: rows, dataset: list.dataset })
  }

  /** Takes groups that are new or have changed, with the ranges of lines that came to them; all there are, if whole. */
  update({ groups, isWhole = false }) {
    if (isWhole) this.#forget()
    for (const { ranges, ...facts } of groups) {
      let group = this.#byKey.get(facts.key)
      if (!group) {
        group = { ranges: [], count: 0, isOpen: null }
        this.#byKey.set(facts.key, group)
        this.#groups.push(group)
      }
      Object.assign(group, facts)
      for (const [from, to] of ranges) {
        group.ranges.push({ from, to, before: group.count })
        group.count += to - from + 1
        this.#grouped = Math.max(this.#grouped, to)
      }
    }
  }

  #forget() {
    this.#groups = []
    this.#byKey.clear()
    this.#grouped = 0
  }

  get first() {
    return 1
  }

  get last() {
    const rows = this.#groups.reduce((sum, group) => sum + 1 + shownOf(group), 0)
    return rows + Math.max(0, this.#lines.last - this.#grouped)
  }

  get arrived() {
    return this.#lines.arrived
  }

  get total() {
    return this.#lines.total
  }

  get isWhole() {
    return true
  }

  get(number) {
    const { group, sequence } = this.#at(number)
    return sequence ? this.#lines.get(sequence) : headHtml(group)
  }

  set(sequence, html) {
    this.#lines.set(sequence, html)
  }

  want(first, last) {
    const sequences = []
    for (let number = first; number <= last; number++) {
      const { sequence } = this.#at(number)
      if (sequence) sequences.push(sequence)
    }
    this.#lines.wantAll(sequences)
  }

  /** The number of a line's row, whose group is unfolded; undefined where there is none. */
  async reach(sequence) {
    if ((await this.#lines.reach(sequence)) === undefined) return
    let number = 0
    for (const group of this.#groups) {
      const range = group.ranges.find(({ from, to }) => from <= sequence && sequence <= to)
      number += 1
      if (range) {
        this.#open(group, true, number)
        return number + range.before + sequence - range.from + 1
      }
      number += shownOf(group)
    }
    return sequence > this.#grouped ? number + sequence - this.#grouped : undefined
  }

  async toEnd() {}

  /** Folds or unfolds the group that this row is the head of. */
  toggle(number) {
    const { group, sequence } = this.#at(number)
    if (group && !sequence) this.#open(group, !isOpen(group), number)
  }

  #open(group, open, number) {
    if (isOpen(group) === open) return
    group.isOpen = open
    this.#changed(number)
  }

  #at(number) {
    let left = number
    for (const group of this.#groups) {
      if (left === 1) return { group }
      const shown = shownOf(group)
      if (left <= 1 + shown) return { group, sequence: sequenceAt(group, left - 2) }
      left -= 1 + shown
    }
    return { sequence: this.#grouped + left }
  }
}

const isOpen = ({ isOpen, state }) => isOpen ?? (state === 'active' || state === 'failed')

const shownOf = (group) => (isOpen(group) ? group.count : 0)

function sequenceAt({ ranges }, index) {
  let [low, high] = [0, ranges.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (ranges[middle].before <= index) low = middle
    else high = middle - 1
  }
  return ranges[low].from + index - ranges[low].before
}

function headHtml(group) {
  const head = document.createElement('div')
  head.className = 'line fold'
  head.dataset.state = group.state
  if (group.isQuiet) head.dataset.quiet = ''
  const button = document.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-expanded', isOpen(group))
  const title = document.createElement('span')
  title.className = 'fold-title'
  title.textContent = group.title
  const facts = document.createElement('span')
  facts.className = 'fold-facts'
  facts.textContent = group.facts
  button.append(title, facts)
  head.append(button)
  return head.outerHTML
}
