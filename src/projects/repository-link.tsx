/** A repository's address: a link where a browser can follow it. */
export const RepositoryLink = ({ url }: { url: string }) =>
  /^https?:\/\//.test(url) ? (
    <a class="repository" href={url} rel="noreferrer" dir="ltr">
      {shortAddress(url)}
    </a>
  ) : (
    <span class="repository" dir="ltr">
      {url}
    </span>
  )

const shortAddress = (url: string) => url.replace(/^https?:\/\//, '').replace(/\.git$/, '')
