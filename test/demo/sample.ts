import { commitFiles, makeRepository } from '../support/git-server.ts'

export type Commit = { greeting: string; hash: string }

const dockerfile = `FROM busybox
COPY index.html /www/
RUN echo "The page has $(wc -c < /www/index.html) bytes."
EXPOSE 8080
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
`

const page = (greeting: string) => `<!doctype html>
<html lang="en">
  <title>${greeting}</title>
  <h1>${greeting}</h1>
</html>
`

/** Serves the page by a script that ends the app at a request, with what it serves beside it. */
const crashing = (greeting: string, at: number) => ({
  Dockerfile: `FROM busybox
COPY index.cgi /www/cgi-bin/
RUN chmod +x /www/cgi-bin/index.cgi
EXPOSE 8080
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
`,
  'index.cgi': `#!/bin/sh
echo x >>/tmp/requests
if [ $(wc -l </tmp/requests) -ge ${at} ]; then
  echo "This is request ${at}, and the app crashes." >/proc/1/fd/1
  kill -9 -1
fi
printf 'Content-Type: text/html\\r\\n\\r\\n<h1>${greeting}</h1>'
`,
})

/** A git repository with a page that says what its commit says, and nothing else unless a Dockerfile is needed. */
export function makeSample(repositories: string, { hasDockerfile = true } = {}) {
  const name = 'hello.git'
  const path = makeRepository(repositories, name)
  return {
    name,
    /** Commits a page that says this, of an app that may crash at a request. */
    commit(greeting: string, { crashesAt }: { crashesAt?: number } = {}): Commit {
      const files = {
        ...(hasDockerfile && { Dockerfile: dockerfile }),
        'index.html': page(greeting),
        ...(crashesAt !== undefined && crashing(greeting, crashesAt)),
      }
      return { greeting, hash: commitFiles(path, files, { message: `Say “${greeting}”` }) }
    },
  }
}
