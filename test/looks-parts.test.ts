import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { insertDeployment } from '../src/deployments/store.ts'
import { testApp } from './support/app.ts'
import { openAs, openPage } from './support/browser.ts'
import { listening } from './support/listening.ts'
import { seeded } from './support/seeded.ts'

const t = testApp({ DAVIT_REGISTRATION: 'invite' }, { atEnd: afterAll })
const { ids, root } = await seeded(t)

/** The installation in a browser that is logged in. */
const opened = async () => ({ t, ids, ...(await openAs(t, root.user)) })

test('the tabs of an admin’s settings have one row on a desktop', async () => {
  const { page } = await opened()
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/settings/audit')
  const tops = await topsOfTabs(page)
  expect(tops.length).toBeGreaterThan(15)
  expect(new Set(tops).size).toBe(1)
})

test('so have the kinds of a channel, though its page is narrow', async () => {
  const { page } = await opened()
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/settings/channels/new')
  const tops = await topsOfTabs(page)
  expect(tops.length).toBeGreaterThan(8)
  expect(new Set(tops).size).toBe(1)
})

const topsOfTabs = (page: Page) =>
  page
    .locator('.tabs-line a')
    .evaluateAll((tabs): number[] => tabs.map((tab) => tab.getBoundingClientRect().y))

test('the checkboxes of a list look as one alone does', async () => {
  const { page } = await opened()
  await page.goto('/settings/prune')
  const looks = await page.locator('[type=checkbox]:not(:checked)').evaluateAll((boxes): string[] =>
    boxes.map((box) => {
      const { appearance, backgroundColor, borderColor, width } =
        box.ownerDocument.defaultView!.getComputedStyle(box)
      return [appearance, backgroundColor, borderColor, width].join()
    }),
  )
  expect(looks.length).toBeGreaterThan(1)
  expect(new Set(looks).size).toBe(1)
})

test('a state that begins a row of facts begins where its title does', async () => {
  const { page, ids } = await opened()
  await page.goto(`/envs/${ids.environment}/runs`)
  const left = async (selector: string) => (await page.locator(selector).first().boundingBox())!.x
  expect(await left('.rows .row-facts .status .icon')).toBe(await left('.rows .row-title'))
})

test('names on a map end within their boxes', async () => {
  const { page } = await opened()
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/map') // with a host of 50 characters
  const over = await page.evaluate<string[]>(`[...document.querySelectorAll('.map-node')]
    .filter((node) => {
      const box = node.querySelector('rect').getBoundingClientRect()
      return [...node.querySelectorAll('text')].some((text) => text.getBoundingClientRect().right > box.right)
    })
    .map((node) => node.textContent)`)
  expect(over).toEqual([])
})

test('that nothing has been written yet is said until something is', async () => {
  const { t, page, ids } = await opened()
  await page.goto(`/services/${ids.service}/output`)
  const note = page.locator('.log > .empty-state')
  expect(await note.isVisible()).toBe(true)
  const line = { time: Date.now(), stream: 'stdout' as const, text: 'Ready' }
  t.logs.write({ sourceId: ids.service, logId: '' }, [line])
  await page.locator('.log .line', { hasText: 'Ready' }).waitFor()
  expect(await note.isVisible()).toBe(false)
})

test('on a phone the steps of the first page fill their frame', async () => {
  const t = testApp()
  t.logIn('ada@example.com') // else it is where the first account is created
  const { page } = await openPage(listening(t).url.origin)
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto('/')
    const frame = (await page.locator('.hero-steps').boundingBox())!
    const last = (await page.locator('.hero-steps li').last().boundingBox())!
    expect(last.x + last.width, `${width}`).toBeCloseTo(frame.x + frame.width - 1, 0)
  }
})

test('logos of thin lines can be made out on a dark page', async () => {
  const { page } = await opened()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/services')
  const logo = page.locator('.template-card .logo', {
    has: page.locator('use[href$="#postgresql"]'),
  })
  const shot = (await logo.screenshot()).toString('base64')
  // of the brightest tenth of its pixels
  const luminance = await page.evaluate<number>(`(async () => {
    const bytes = Uint8Array.fromBase64('${shot}')
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const { width, height } = image
    const context = new OffscreenCanvas(width, height).getContext('2d')
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    const all = Array.from({ length: width * height }, (_, at) => {
      const [red, green, blue] = data.subarray(at * 4)
      return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255
    })
    const brightest = all.sort((one, other) => other - one).slice(0, all.length / 10)
    return brightest.reduce((sum, one) => sum + one, 0) / brightest.length
  })()`)
  expect(luminance).toBeGreaterThan(0.3)
})

test('the buttons of a note stand beside its text, or below it where there is no room', async () => {
  const { page, ids } = await opened()
  await page.goto(`/projects/${ids.project}/envs/${ids.environment}`)
  const note = page.locator('#environment-head .note')
  const isBeside = async (width: number) => {
    await page.setViewportSize({ width, height: 800 })
    const text = (await note.locator('p').boundingBox())!
    return (await note.locator('.actions').boundingBox())!.y < text.y + text.height
  }
  expect([await isBeside(1280), await isBeside(390)]).toEqual([true, false])
  await page.goto(`/projects/${ids.project}`)
  const ofCard = page.locator('.environment-card').filter({ has: page.locator('.note') })
  const before = (await ofCard.locator('section > p').last().boundingBox())!
  const { y } = (await ofCard.locator('.note').boundingBox())!
  expect(y - before.y - before.height).toBeGreaterThan(5)
})

test('the few tabs of a narrow page are as far apart as those of others', async () => {
  const { page, ids } = await opened()
  const spaceAt = async (path: string) => {
    await page.goto(path)
    const tab = page.locator('.tabs-line a').first()
    return tab.evaluate((one) => one.ownerDocument.defaultView!.getComputedStyle(one).paddingLeft)
  }
  expect(await spaceAt('/projects/new')).toBe(await spaceAt(`/projects/${ids.project}`))
})

test('that an app isn’t deployed looks the same on each page', async () => {
  const { page } = await opened()
  for (const path of ['/dashboard', '/projects']) {
    await page.goto(path)
    const state = page.locator('.row', { hasText: 'My shop' }).locator('.status')
    expect([await state.textContent(), await state.locator('svg').count()]).toEqual([
      'Not deployed',
      1,
    ])
  }
})

test('on a phone no line of a deployment’s title begins with its dot', async () => {
  const { page, ids } = await opened()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(`/projects/${ids.project}/deployments/${ids.deployment}`)
  const left = await page.locator('h1').evaluate((title): number => {
    const text = title.querySelector('bdi')!.firstChild!
    const dot = text.textContent!.indexOf('·')
    const range = title.ownerDocument.createRange()
    range.setStart(text, dot)
    range.setEnd(text, dot + 1)
    return range.getBoundingClientRect().x - title.getBoundingClientRect().x
  })
  expect(left).toBeGreaterThan(100)
})

test('on a phone what to do about a failure has two lines', async () => {
  const { t, page, ids } = await opened()
  const { project: projectId, environment: environmentId } = ids
  const errorHint =
    'Check the path after COPY or ADD against the repository and the context directory.'
  const { id } = insertDeployment(t.db, {
    ...{ projectId, environmentId, repositoryUrl: 'https://git.example.com/a/b.git' },
    ...{ status: 'failed', trigger: 'manual', triggeredBy: 'ada', finishedAt: new Date() },
    ...{ errorStep: 'building', errorCode: 'copy_source_missing', errorHint },
  })
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(`/projects/${projectId}/deployments/${id}`)
  const hint = page.locator('.failure-more > summary')
  expect(await hint.textContent()).toBe(errorHint)
  expect(await hint.evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThan(30)
})
