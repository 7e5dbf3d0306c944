import { copied } from './copy.js'
import { openStyled } from './terminal-styles.js'
import { FitAddon } from './vendor/xterm-fit.min.js'
import { Terminal } from './vendor/xterm.min.js'

/** Bytes of one message, and of what was typed that the server has not taken yet. */
const piece = 16 * 1024
const maxAhead = 64 * 1024

/** Bytes after which the server gets an acknowledgement of what is drawn: it sends no more than a few of these ahead. */
const drawnStep = 32 * 1024

const themes = {
  dark: { background: '#14191c', foreground: '#e6eaec', cursor: '#e6eaec' },
  light: { background: '#ffffff', foreground: '#1b2226', cursor: '#1b2226' },
}
const selection = { selectionBackground: '#3f8fa580' }

const arrows = { up: 'A', down: 'B', right: 'C', left: 'D' }

class TerminalView {
  #host
  #screen
  #terminal = new Terminal({ fontSize: 13, scrollback: 5000, minimumContrastRatio: 4.5 })
  #fit = new FitAddon()
  #socket = null
  #queue = []
  #typed = 0
  #taken = 0
  #drawn = 0
  #told = 0
  #encoder = new TextEncoder()

  constructor(host) {
    this.#host = host
    this.#screen = host.querySelector('.terminal-screen')
    this.#terminal.options.fontFamily = getComputedStyle(host).getPropertyValue('--font-mono')
    this.#dress()
    this.#terminal.loadAddon(this.#fit)
    openStyled(this.#terminal, this.#screen)
    this.#listen()
    this.#size()
    this.#connect()
  }

  #listen() {
    const terminal = this.#terminal
    terminal.onData((text) => this.#type(this.#encoder.encode(this.#controlled(text))))
    terminal.onBinary((text) => this.#type(Uint8Array.from(text, (char) => char.charCodeAt(0))))
    terminal.onResize(() => this.#sendSize())
    terminal.attachCustomKeyEventHandler((event) => this.#mayHandle(event))
    new ResizeObserver(() => this.#size()).observe(this.#host)
    window.visualViewport?.addEventListener('resize', () => this.#size()) // a keyboard came or went
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#dress())
    this.#button('again').addEventListener('click', () => this.#connect())
    for (const key of this.#host.querySelectorAll('[data-key]')) {
      key.addEventListener('pointerdown', (event) => event.preventDefault()) // the focus stays
      key.addEventListener('click', () => this.#press(key.dataset.key))
    }
    this.#key('paste').hidden = !navigator.clipboard?.readText
  }

  #connect() {
    this.#queue = []
    this.#typed = this.#taken = this.#drawn = this.#told = 0
    this.#show('Connecting…')
    const socket = new WebSocket(this.#host.dataset.terminal)
    this.#socket = socket
    socket.binaryType = 'arraybuffer'
    let isOpen = false
    let hasShell = false
    let reason = null
    let hasExited = false
    socket.onopen = () => {
      isOpen = true
      this.#show(this.#host.dataset.terminalStarting)
      this.#say({ drawn: 0 })
      this.#sendSize()
      this.#terminal.focus()
    }
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') {
        if (!hasShell) this.#show('Connected')
        hasShell = true
        return this.#draw(socket, new Uint8Array(data))
      }
      const { taken, ended, exitCode = null } = JSON.parse(data)
      if (ended) reason = ended
      if (exitCode !== null) hasExited = true
      if (taken) this.#taken = taken
      this.#send()
    }
    socket.onclose = async () => {
      const why = reason ?? (isOpen ? 'The connection was lost.' : await this.#whyRefused())
      const isForGood = hasExited && 'terminalOnce' in this.#host.dataset
      if (this.#socket === socket) this.#show(why, !isForGood)
    }
  }

  /** A browser doesn't expose the response to a handshake: the page itself returns the same error. */
  async #whyRefused() {
    try {
      const asked = { headers: { Accept: 'application/json' } }
      const answer = await fetch(this.#host.dataset.terminal, asked)
      if (answer.status === 401) location.reload() // which leads to the login, and back here
      if (!answer.ok) return (await answer.json()).detail
    } catch {
      // said below
    }
    return 'Davit can’t be reached.'
  }

  #draw(socket, bytes) {
    this.#terminal.write(bytes, () => {
      if (socket !== this.#socket) return
      this.#drawn += bytes.length
      if (this.#drawn - this.#told < drawnStep) return
      this.#told = this.#drawn
      this.#say({ drawn: this.#drawn })
    })
  }

  #type(bytes) {
    for (let at = 0; at < bytes.length; at += piece)
      this.#queue.push(bytes.subarray(at, at + piece))
    this.#send()
  }

  /** Sends what was typed or pasted, no faster than the programs read it. */
  #send() {
    while (this.#queue.length > 0 && this.#typed - this.#taken < maxAhead && this.#isOpen) {
      const bytes = this.#queue.shift()
      this.#typed += bytes.length
      this.#socket.send(bytes)
    }
  }

  #say(message) {
    if (this.#isOpen) this.#socket.send(JSON.stringify(message))
  }

  #sendSize() {
    this.#say({ resize: [this.#terminal.cols, this.#terminal.rows] })
  }

  /** All that is in view below the head and above the keys. */
  #size() {
    const top = this.#screen.getBoundingClientRect().top + scrollY
    const rest =
      this.#host.getBoundingClientRect().bottom - this.#screen.getBoundingClientRect().bottom
    const height = (window.visualViewport?.height ?? innerHeight) - top - rest - 24
    this.#screen.style.height = `${Math.max(180, Math.floor(height))}px`
    this.#fit.fit()
  }

  #press(name) {
    const terminal = this.#terminal
    if (name === 'copy') return void this.#copy()
    if (name === 'paste')
      return void navigator.clipboard.readText().then((text) => terminal.paste(text))
    if (name === 'control') return this.#hold(!this.#isControl)
    if (name === 'escape') terminal.input('\x1b')
    else if (name === 'tab') terminal.input('\t')
    else
      terminal.input((terminal.modes.applicationCursorKeysMode ? '\x1bO' : '\x1b[') + arrows[name])
  }

  /** The letter after Ctrl was pressed on the screen. */
  #controlled(text) {
    if (!this.#isControl || text.length !== 1) return text
    this.#hold(false)
    return String.fromCharCode(text.toUpperCase().charCodeAt(0) & 31)
  }

  /** False keeps a key from the terminal. */
  #mayHandle(event) {
    if (event.type !== 'keydown') return true
    if (event.shiftKey && event.key === 'Escape') {
      this.#key('copy').focus()
      return false
    }
    const isCopy = event.ctrlKey && event.code === 'KeyC'
    if (!isCopy || !(event.shiftKey || this.#terminal.hasSelection())) return true
    event.preventDefault()
    void this.#copy()
    return false
  }

  /** What is selected, else all there is. */
  async #copy() {
    const terminal = this.#terminal
    if (!terminal.hasSelection()) terminal.selectAll()
    const text = terminal.getSelection().trimEnd()
    terminal.clearSelection()
    await copied(text, this.#key('copy'), 'Copied.')
    terminal.focus()
  }

  #hold(isHeld) {
    this.#key('control').ariaPressed = String(isHeld)
  }

  get #isControl() {
    return this.#key('control').ariaPressed === 'true'
  }

  get #isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  #dress() {
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches
    this.#terminal.options.theme = { ...themes[isDark ? 'dark' : 'light'], ...selection }
  }

  #show(text, isOver = false) {
    this.#host.querySelector('[data-terminal-state]').textContent = text
    this.#button('again').hidden = !isOver
    this.#host.dataset.over = String(isOver)
  }

  #button(name) {
    return this.#host.querySelector(`[data-terminal-${name}]`)
  }

  #key(name) {
    return this.#host.querySelector(`[data-key=${name}]`)
  }
}

new TerminalView(document.querySelector('[data-terminal]'))
