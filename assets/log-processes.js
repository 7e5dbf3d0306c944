/** Shows which process wrote a row, in its colour, and offers to filter by those that the server didn't know of. */
export class LogProcesses {
  #host
  #choice
  /** Names of processes, or of one container of one, with the class of their colour. */
  #colours = new Map()
  #widest = 0

  constructor(host) {
    this.#host = host
    this.#choice = host.querySelector('.log-processes')
    for (const link of this.#choice?.querySelectorAll('.process') ?? [])
      this.#colours.set(link.textContent, link.classList.item(1))
  }

  dress(row) {
    const label = row.querySelector(':scope > b')
    if (!label || !this.#choice) return
    const name = label.textContent
    if (!this.#colours.has(name)) this.#add(name)
    label.className = this.#colours.get(name)
    if (name.length <= this.#widest) return
    this.#widest = name.length
    this.#host.style.setProperty('--process', `${Math.min(name.length, 24)}ch`)
  }

  /** A container of a process has that one's colour. */
  #add(name) {
    const process = name.replace(/ \d+$/, '')
    if (!this.#colours.has(process)) this.#offer(process)
    this.#colours.set(name, this.#colours.get(process))
    if (this.#colours.size < 2) return
    this.#host.classList.add('joined')
    this.#choice.hidden = false
  }

  #offer(process) {
    const links = this.#choice.querySelectorAll('.process')
    const colour = `p${links.length % Number(this.#choice.dataset.colours)}`
    const link = document.createElement('a')
    link.className = `process ${colour}`
    link.href = `?${new URLSearchParams([
      ...new URLSearchParams(this.#host.dataset.logQuery),
      ['process', process],
    ])}`
    link.textContent = process
    this.#choice.append(link)
    this.#colours.set(process, colour)
  }
}
