import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBrowser } from './machine.ts'
import { comesTrue } from './until.ts'

type Params = Record<string, unknown>
type Message = Params & { id?: number; type: string; method?: string; message?: string }

/**
 * A Firefox with one tab in front of that address, driven by WebDriver BiDi: playwright-core drives
 * only its own build of it, and newer ones than Debian's. What the pages complain of is collected, breaches
 * of their content policy, too.
 */
export async function openFirefox(origin: string) {
  const { send, on, close } = await connect(await startFirefox())
  onTestFinished(close)
  await send('session.new', { capabilities: {} })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  const complaints: string[] = []
  on('log.entryAdded', ({ level, text }) => {
    // what a page still asks for when it is left is broken off
    const isNone = /NetworkError when attempting to fetch/.test(String(text))
    if (level === 'error' && !isNone) complaints.push(String(text))
  })
  await send('session.subscribe', { events: ['log.entryAdded'] })

  /** What an expression of the page comes to, as JSON has it. */
  async function evaluate<T>(expression: string) {
    const answer = await send('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      target: { context },
      awaitPromise: true,
    })
    if (answer.type === 'exception') throw new Error(`${expression}: ${JSON.stringify(answer)}`)
    const { value } = answer.result as { value?: string }
    return (value === undefined ? undefined : JSON.parse(value)) as T
  }
  const actions = async (...sources: Params[]) => {
    await send('input.performActions', { context, actions: sources })
    await send('input.releaseActions', { context })
  }
  const keys = async (...pressed: string[]) => {
    const down = pressed.map((value) => ({ type: 'keyDown', value }))
    const up = pressed.toReversed().map((value) => ({ type: 'keyUp', value }))
    await actions({ type: 'key', id: 'keys', actions: [...down, ...up] })
  }
  /** Until the page has it. One that is being left has nothing. */
  const see = (expression: string) =>
    comesTrue(30, () => evaluate<boolean>(`!!(${expression})`).catch(() => false)).then(
      (isSeen) => {
        if (!isSeen) throw new Error(`Not seen in Firefox: ${expression}`)
      },
    )
  return {
    complaints,
    evaluate,
    see,
    /** Until an element whose text has that is shown. */
    seeText: (selector: string, text: string) =>
      see(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].some((one) => one.checkVisibility() && one.textContent.includes(${JSON.stringify(text)}))`,
      ),
    goto: (path: string) =>
      send('browsingContext.navigate', { context, url: origin + path, wait: 'complete' }),
    /** Presses keys together, as WebDriver names them. */
    press: (...names: (keyof typeof named | string)[]) =>
      keys(...names.map((name) => named[name as keyof typeof named] ?? name)),
    async type(text: string) {
      const pressed = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ])
      await actions({ type: 'key', id: 'keys', actions: pressed })
    },
    /** With a pointer, where the element is seen. */
    async click(selector: string) {
      const found = `document.querySelector(${JSON.stringify(selector)})`
      await see(`${found}?.checkVisibility()`)
      const { x, y } = await evaluate<{ x: number; y: number }>(`(() => {
        const element = ${found}
        element.scrollIntoView({ block: 'center', behavior: 'instant' })
        const box = element.getBoundingClientRect()
        return { x: Math.floor(box.x + box.width / 2), y: Math.floor(box.y + box.height / 2) }
      })()`)
      const move = { type: 'pointerMove', x, y }
      const press = [
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ]
      await actions({ type: 'pointer', id: 'pointer', actions: [move, ...press] })
    },
    resize: (width: number, height: number) =>
      send('browsingContext.setViewport', { context, viewport: { width, height } }),
  }
}

/** Keys by their names, as WebDriver numbers them. */
const named = {
  Tab: '\uE004',
  Enter: '\uE007',
  Shift: '\uE008',
  Control: '\uE009',
  Escape: '\uE00C',
  End: '\uE010',
  ArrowDown: '\uE015',
}

/** Asks no one on the network, and opens no page of its own. */
const preferences = {
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.newtabpage.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'http://127.0.0.1:9/',
  'toolkit.telemetry.server': '',
}

/** Where it listens. */
async function startFirefox() {
  const program = await ensureBrowser('firefox', { say: console.error })
  const home = mkdtempSync(join(tmpdir(), 'davit-firefox-'))
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  )
  writeFileSync(join(home, 'user.js'), lines.join('\n'))
  const command = ['--headless', '--no-remote', '--profile', home, '--remote-debugging-port', '0']
  const child = Bun.spawn([program, ...command], {
    env: { ...process.env, HOME: home },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  onTestFinished(async () => {
    child.kill()
    await child.exited
    rmSync(home, { recursive: true, force: true })
  })
  const address = Promise.withResolvers<string>()
  void (async () => {
    let said = ''
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += chunk
      const found = /listening on (ws:\S+)/.exec(said)?.[1]
      if (found) address.resolve(found)
    }
    address.reject(new Error(`Firefox ended: ${said}`))
  })()
  return address.promise
}

/** Commands of WebDriver BiDi over a socket, and its events. */
async function connect(address: string) {
  const socket = new WebSocket(`${address}/session`)
  const waiting = new Map<number, PromiseWithResolvers<Params>>()
  const listeners = new Map<string, (event: Params) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, type, method, message, ...rest } = JSON.parse(String(data)) as Message
    if (type === 'event') return listeners.get(method!)?.(rest.params as Params)
    const asked = waiting.get(id!)
    waiting.delete(id!)
    if (type === 'error') asked?.reject(new Error(`Firefox: ${message}`))
    else asked?.resolve(rest.result as Params)
  })
  const opened = Promise.withResolvers<void>()
  socket.addEventListener('open', () => opened.resolve())
  socket.addEventListener('close', () => {
    const error = new Error('Firefox closed the connection.')
    opened.reject(error)
    for (const asked of waiting.values()) asked.reject(error)
  })
  await opened.promise
  let last = 0
  return {
    on: (event: string, listener: (event: Params) => void) => listeners.set(event, listener),
    close: () => socket.close(),
    send(method: string, params: Params) {
      const asked = Promise.withResolvers<Params>()
      waiting.set(++last, asked)
      socket.send(JSON.stringify({ id: last, method, params }))
      return asked.promise
    },
  }
}
