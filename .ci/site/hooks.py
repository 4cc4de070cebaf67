"""What mkdocs does not know of this repository's pages: their anchors, what they link to, and the list of decisions."""

import logging
import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

SOURCES = Path(os.environ["ESPALIER_SOURCES"])
log = logging.getLogger("mkdocs.plugins.espalier")
LINK = re.compile(r"""(\]\(|src=")([^)\s#:"]+)""")


def slug(heading, separator):
    """The anchor of a heading as code hosts make it, and as .ci/check-links expects it."""
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", separator)


def decisions(pages):
    """The decision records by number, as the navigation takes them."""
    return [str(p.relative_to(pages)) for p in sorted(Path(pages, "docs/adr").glob("[0-9]*.md"))]


def on_config(config):
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": slug, "permalink": True}
    for section in config.nav:
        for pages in section.values():
            for page in pages if isinstance(pages, list) else []:
                if page == {"Decisions": "docs/adr/"}:
                    page["Decisions"] = decisions(config.docs_dir)
    return config


def on_nav(nav, config, files):
    known = {page.file.src_uri for page in nav.pages}
    for file in files.documentation_pages():
        if file.src_uri not in known:
            log.warning("%s is not in mkdocs.yaml", file.src_uri)
    return nav


def linked(page, link):
    """The path of a linked file in the repository; the first one of a directory; none if there is none."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    inside = sorted(SOURCES.joinpath(path).glob("README.md")) + sorted(SOURCES.joinpath(path).glob("*.*"))
    file = SOURCES / path if not inside else inside[0]
    return str(file.relative_to(SOURCES)) if file.is_file() else None


def on_files(files, config):
    """Files that pages link to (sources, examples, images) become part of the site."""
    for page in files.documentation_pages():
        for link in LINK.findall(Path(page.abs_src_path).read_text()):
            path = linked(page.src_uri, link[1])
            if path and not files.get_file_from_path(path):
                files.append(File(path, str(SOURCES), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown, page, config, files):
    """A link to a directory leads to the file in it that `linked` chooses."""

    def target(match):
        path = linked(page.file.src_uri, match[2])
        if path is None or path.endswith("/" + posixpath.basename(match[2])) or path == match[2]:
            return match[0]
        return match[1] + posixpath.relpath(path, posixpath.dirname(page.file.src_uri) or ".")

    return LINK.sub(target, markdown)
