import type { Deps } from '../deps.ts'
import { factory } from '../web/factory.ts'
import { show } from '../web/respond.tsx'
import { openApiDocument } from './document.ts'
import { operations } from './operations.ts'
import { ApiPage } from './page.tsx'

/** What programs can do, for programs and for the people who write them. */
export const apiRoutes = ({ config }: Pick<Deps, 'config'>) => {
  const known = operations(config)

  return factory
    .createApp()
    .get('/api', (c) =>
      show(c, {
        title: 'API',
        page: () => <ApiPage operations={known} />,
        json: () => document(new URL(c.req.url).origin),
      }),
    )
    .get('/api/openapi.json', (c) => c.json(document(new URL(c.req.url).origin)))

  function document(origin: string) {
    return openApiDocument(known, { server: config.url?.origin ?? origin })
  }
}
