//! Messages over TCP: each goes behind its length.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// A message behind its length, in two bytes. A longer one than these can tell of is cut; there is none.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], &message[..usize::from(length)]].concat()
}

/// Reads a message; `None` at the end of the stream, also in the middle of a message.
///
/// Memory is taken as the message comes: a sender that only says that it will send much gets none.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let length = match stream.read_u16().await {
        Ok(length) => u64::from(length),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut message = Vec::new();
    stream.take(length).read_to_end(&mut message).await?;
    Ok((message.len() as u64 == length).then_some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_come_out_as_they_went_in_until_one_is_cut() {
        let longest = vec![7; 65_535];
        let stream = [framed(b"one"), framed(b""), framed(&longest), framed(b"cut")].concat();
        let mut stream = &stream[..stream.len() - 1];
        assert_eq!(read(&mut stream).await.unwrap().unwrap(), b"one");
        assert_eq!(read(&mut stream).await.unwrap().unwrap(), b"");
        assert_eq!(read(&mut stream).await.unwrap().unwrap(), longest);
        assert_eq!(read(&mut stream).await.unwrap(), None);
        assert_eq!(read(&mut stream).await.unwrap(), None);
    }
}
