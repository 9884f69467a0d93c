//! Pictures as files: SVG as they are drawn, or PNG for slides and papers.

use std::io;
use std::path::Path;

use oversleep_report::view::pictures::Picture;

use super::file::Files;
use crate::args::PictureFormat;

/// Writes every picture to a file in a directory, which is created for the first, and returns how many there are.
///
/// # Errors
/// The directory or a file can't be written, or this program can't make that format.
pub fn write_all(
    pictures: &[Picture],
    format: PictureFormat,
    directory: &Path,
    files: &mut Files,
) -> io::Result<usize> {
    if pictures.is_empty() {
        return Ok(0);
    }
    let draw = drawer(format)?;
    std::fs::create_dir_all(directory)?;
    for picture in pictures {
        let path = directory.join(format!("{}.{}", picture.name, format.name()));
        let drawn = draw(&picture.forms.alone)?;
        files.replace(&path, &|out| out.write_all(&drawn))?;
    }
    Ok(pictures.len())
}

/// Makes the bytes of a file from a document in SVG.
type Draw = Box<dyn Fn(&str) -> io::Result<Vec<u8>>>;

fn drawer(format: PictureFormat) -> io::Result<Draw> {
    match format {
        PictureFormat::Svg => Ok(Box::new(|svg| Ok(svg.as_bytes().to_vec()))),
        PictureFormat::Png => png::drawer(),
    }
}

/// Why no PNG is possible, before anything is measured for it.
///
/// # Errors
/// The reason, and what to do instead.
pub fn check(format: PictureFormat) -> Result<(), String> {
    match format {
        PictureFormat::Svg => Ok(()),
        PictureFormat::Png => png::drawer().map(drop).map_err(|error| error.to_string()),
    }
}

#[cfg(not(feature = "png"))]
mod png {
    use std::io;

    use super::Draw;

    pub(super) fn drawer() -> io::Result<Draw> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this oversleep was built without PNG, which takes 3.4 MB. Use --svg and convert its files (`rsvg-convert -z 2 \
             NAME.svg -o NAME.png`); `cargo install oversleep-cli --features png` builds one with it",
        ))
    }
}

#[cfg(feature = "png")]
mod png {
    use std::io;
    use std::sync::Arc;

    use oversleep_report::view::pictures::for_plain_viewers;
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree, fontdb::Database};

    use super::Draw;

    /// Pixels per px: sharp on a slide and in print at a column's width.
    const SCALE: f32 = 2.0;

    /// The families that a page would choose, where the system has them; otherwise any that it has.
    const FAMILIES: [&str; 8] =
        ["Segoe UI", "Roboto", "Helvetica Neue", "Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans"];

    pub(super) fn drawer() -> io::Result<Draw> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let has = |family: &&&str| fonts.faces().any(|face| face.families.iter().any(|(name, _)| name == **family));
        let any = || fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
        let Some(family) = FAMILIES.iter().find(has).map(|&family| family.to_owned()).or_else(any) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "this machine has no font, so a PNG would have no letters; install one (fonts-dejavu-core on Debian), or use \
                 --svg",
            ));
        };
        fonts.set_sans_serif_family(&family);
        let options = Options { font_family: family, fontdb: Arc::new(fonts), ..Options::default() };
        Ok(Box::new(move |svg| drawn(svg, &options)))
    }

    fn drawn(svg: &str, options: &Options<'_>) -> io::Result<Vec<u8>> {
        let failed = |why: String| io::Error::other(format!("drawing a PNG: {why}"));
        let tree = Tree::from_str(&for_plain_viewers(svg), options).map_err(|error| failed(error.to_string()))?;
        let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| failed("it has no size".to_owned()))?;
        let mut pixels =
            Pixmap::new(size.width(), size.height()).ok_or_else(|| failed("it is too large".to_owned()))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| failed(error.to_string()))
    }
}
