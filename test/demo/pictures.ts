/**
 * Makes the pictures of the documentation (`npm run pictures`): a Davit of its own deploys three small
 * apps, one of which fails, and its pages are looked at in Chromium, light and dark. With `film` it makes
 * those of a release that goes back by itself.
 */
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Page } from 'playwright-core'
import { findBrowser } from '../support/machine/browsers.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import { ensureBusyboxImage, ensureEngine } from '../support/machine.ts'
import type { Deployment } from './deploy.ts'
import { watch } from './deploy.ts'
import { makeSample } from './sample.ts'
import { setStage } from './stage.ts'
import type { Stage } from './stage.ts'
import { say, success } from './terminal.ts'
import { removeProject } from './tidy.ts'
import { visit } from './visitors.ts'

const folder = join(import.meta.dir, '../../assets/docs')

/** What a picture holds of a page. */
const size = { width: 1280, height: 800 }

/** Each is smaller than the others: there are twelve of them. */
const frame = { width: 960, height: 640 }

const dockerfile = (check: string) => `FROM busybox:latest
WORKDIR /app
COPY package.txt ./
RUN echo "Installing 214 packages" && sleep 2 && echo "Installed 214 packages"
COPY . ./
RUN echo "Checking types" && sleep 1 && ${check}
RUN mkdir -p dist && cp index.html dist/ && echo "Wrote dist/index.html"
EXPOSE 8080
CMD ["sh", "-c", "echo Listening on port 8080; exec httpd -f -p 8080 -h dist"]
`

const files = (title: string, check = 'echo "No type errors in 96 files"'): Files => ({
  Dockerfile: dockerfile(check),
  'package.txt': title,
  'index.html': `<!doctype html><title>${title}</title><h1>${title}</h1>\n`,
})

const broken = `echo "src/cart.ts(31,9): error TS2322: Type 'string' is not assignable to type 'number'" && false`

await ensureEngine({ say })
await ensureBusyboxImage({ say })
const end = new AbortController()
const { signal } = end
process.once('SIGINT', () => end.abort(new Error('Interrupted.')))
await using stage = await setStage({ signal, failed: (error) => end.abort(error) })
if (process.argv[2] === 'film') await film(stage)
else {
  const { projectId, id } = await fill(stage)
  await picture(stage, {
    deployment: `/projects/${projectId}/deployments/${id}`,
    dashboard: '/dashboard',
  })
}
success(`The pictures are in ${folder}`)

/** Three apps; answers the deployment that is shown. */
async function fill(stage: Stage) {
  const { davit } = stage
  const blog = await project(stage, 'Blog', { 'Write about boats': files('Blog') })
  await watch(davit, blog.deployments[0]!)
  const checkout = await project(stage, 'Checkout', { 'Round prices': files('Checkout', broken) })
  await watch(davit, checkout.deployments[0]!).catch(() => {}) // it fails, as it should
  const shop = await project(stage, 'Shop', { 'Open the shop': files('Shop') })
  await watch(davit, shop.deployments[0]!)
  shop.commit('Sell boats in winter, too', files('Shop in winter'))
  const next = await davit.post<Deployment>(`/projects/${shop.id}/deployments`)
  return watch(davit, next)
}

async function project(stage: Stage, name: string, commits: Record<string, Files>) {
  const { davit, repositories, gitUrl } = stage
  const file = `${name.toLowerCase()}.git`
  const path = makeRepository(repositories, file)
  const commit = (message: string, files: Files) => commitFiles(path, files, { message })
  const { id } = await davit.post<{ id: string }>('/projects', {
    name,
    repositoryUrl: `${gitUrl}${file}`,
  })
  stage.defer(() => removeProject(davit, id))
  const deployments: Deployment[] = []
  for (const [message, files] of Object.entries(commits)) {
    commit(message, files)
    deployments.push(await davit.post<Deployment>(`/projects/${id}/deployments`))
  }
  return { id, commit, deployments }
}

async function picture(stage: Stage, pages: Record<string, string>) {
  await inBrowser(stage, async (page) => {
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(path)
      await take(page, name, 1500) // until what is live has come
    }
  })
}

/** A version that crashes at a request of its visitors, from its build until the one before is live again. */
async function film(stage: Stage) {
  const { davit, gitUrl, repositories } = stage
  if (!stage.hasEdge) throw new Error('Caddy is needed: requests can’t go back without it.')
  const sample = makeSample(repositories)
  const { id } = await davit.post<{ id: string }>('/projects', {
    name: 'Shop',
    repositoryUrl: `${gitUrl}${sample.name}`,
  })
  stage.defer(() => removeProject(davit, id))
  const deploy = () => davit.post<Deployment>(`/projects/${id}/deployments`)
  sample.commit('Boats')
  const first = await watch(davit, await deploy())
  const visitors = visit(first.url, ['Boats', 'Boats in winter'])
  const pathOf = (deployment: Deployment) => `/projects/${id}/deployments/${deployment.id}`
  await inBrowser(stage, async (page) => {
    await page.setViewportSize(frame)
    sample.commit('Boats in winter', { crashesAt: 1200 })
    const second = await deploy()
    await page.goto(pathOf(second))
    await take(page, 'watched-1')
    const now = () => davit.get<Deployment & { watch: { lines: string[] } | null }>(pathOf(second))
    while ((await now()).status !== 'running') await page.waitForTimeout(50)
    await take(page, 'watched-2', 2500)
    await take(page, 'watched-3', 2500)
    while (!(await now()).watch?.lines.length) await page.waitForTimeout(200)
    await page.goto(pathOf(second))
    await take(page, 'watched-4', 1500)
    await page.goto(pathOf(first))
    await take(page, 'watched-5', 1500)
    await page.goto('/dashboard')
    await take(page, 'watched-6', 1500)
  })
  await visitors.stop()
}

async function inBrowser({ url, account }: Stage, work: (page: Page) => Promise<void>) {
  const executablePath = findBrowser('chromium')
  if (!executablePath) throw new Error('Chromium is needed: apt-get install chromium')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await browser.newPage({ baseURL: url, viewport: size })
    await page.goto('/login')
    await page.fill('[name=email]', account.email)
    await page.fill('[name=password]', account.password)
    await page.click('main button[type=submit]')
    await page.waitForURL(/dashboard/)
    await work(page)
  } finally {
    await browser.close()
  }
}

/** What is shown after so many milliseconds, light and dark. */
async function take(page: Page, name: string, delay = 0) {
  await page.waitForTimeout(delay)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.waitForTimeout(300) // until it is painted
    await Bun.write(join(folder, `${name}-${colorScheme}.webp`), await webp(page))
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Playwright itself makes PNG and JPEG only. */
async function webp(page: Page) {
  const session = await page.context().newCDPSession(page)
  const format = { format: 'webp', quality: 85 } as const
  const { data } = await session.send('Page.captureScreenshot', format)
  await session.detach()
  return Buffer.from(data, 'base64')
}
