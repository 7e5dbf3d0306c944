/**
 * Makes the pictures of the documentation (`npm run pictures`): a Davit of its own deploys three small
 * apps, one of which fails, and its pages are looked at in Chromium, light and dark.
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
import { setStage } from './stage.ts'
import type { Stage } from './stage.ts'
import { say, success } from './terminal.ts'
import { removeProject } from './tidy.ts'

const folder = join(import.meta.dir, '../../assets/docs')

/** What a picture holds of a page. */
const size = { width: 1280, height: 800 }

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
const deployed = await fill(stage)
await picture(stage, {
  deployment: `/projects/${deployed.projectId}/deployments/${deployed.id}`,
  dashboard: '/dashboard',
})
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

async function picture({ url, account }: Stage, pages: Record<string, string>) {
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
    for (const [name, path] of Object.entries(pages))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.goto(path)
        await page.waitForTimeout(1500) // until what is live has come
        await Bun.write(join(folder, `${name}-${colorScheme}.webp`), await webp(page))
      }
  } finally {
    await browser.close()
  }
}

/** Playwright itself makes PNG and JPEG only. */
async function webp(page: Page) {
  const session = await page.context().newCDPSession(page)
  const format = { format: 'webp', quality: 85 } as const
  const { data } = await session.send('Page.captureScreenshot', format)
  await session.detach()
  return Buffer.from(data, 'base64')
}
