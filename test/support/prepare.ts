import {
  ensureBusyboxImage,
  ensureEdgeImages,
  ensureBrowser,
  ensureEngine,
  ensureRegistry,
  ensureServiceImages,
  ensureSshd,
} from './machine.ts'

// `npm test` begins here: the tests use a real engine, build on busybox, clone over
// ssh, pull from a registry, start servers of the catalogue, ask Caddy and look at pages in Chromium.
const say = console.error
try {
  await ensureEngine({ say })
  await ensureBusyboxImage({ say })
  await ensureBrowser('chromium', { say })
  await ensureSshd({ say })
  await ensureRegistry({ say })
  await ensureServiceImages({ say })
  await ensureEdgeImages({ say })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
